// Elements from code: no markup is ever parsed, so nothing that a table says can become markup.

const SVG = "http://www.w3.org/2000/svg";

/** Return an element. `props` are attributes; `on` has listeners, `value` and the like are properties. */
export function h(tag, props = {}, ...children) {
  return fill(document.createElement(tag), props, children);
}

/** Return an element of a drawing. */
export function svg(tag, props = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), props, children);
}

const PROPERTIES = new Set(["value", "checked", "selected", "disabled", "open", "hidden", "indeterminate"]);

function fill(node, props, children) {
  for (const [name, value] of Object.entries(props)) {
    if (value === undefined || value === null || (value === false && !PROPERTIES.has(name))) continue;
    if (name === "on") for (const [event, listener] of Object.entries(value)) node.addEventListener(event, listener);
    else if (name === "data") Object.assign(node.dataset, value);
    else if (PROPERTIES.has(name) && name in node) node[name] = value;
    else node.setAttribute(name, value === true ? "" : String(value));
  }
  append(node, children);
  if ("value" in props && node.tagName === "SELECT") node.value = props.value; // its options exist only now
  return node;
}

function append(node, children) {
  for (const child of children) {
    if (child === undefined || child === null || child === false) continue;
    if (Array.isArray(child)) append(node, child);
    else node.append(child);
  }
}

/** Put other contents into an element. */
export function replace(node, ...children) {
  const kept = children.flat(Infinity).filter((one) => one !== undefined && one !== null && one !== false);
  node.replaceChildren(...kept);
  return node;
}

let numbers = 0;
/** Return an id that no other element of the page has. */
export function newId(kind) {
  numbers += 1;
  return `${kind}-${numbers}`;
}

/** Say something to screen readers without moving the focus. */
export function announce(words) {
  const place = document.getElementById("announcements");
  if (place) place.textContent = words;
}

/** Call a function once its calls have paused for some milliseconds. */
export function paused(milliseconds, action) {
  let timer = 0;
  const later = (...given) => {
    clearTimeout(timer);
    timer = setTimeout(() => action(...given), milliseconds);
  };
  later.cancel = () => clearTimeout(timer);
  return later;
}
