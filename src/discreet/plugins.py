"""Registries: the built-in requirements, methods, attacks and kinds, and those of plugins.

A plugin is an installed package with entry points in one of the groups ``discreet.requirements``,
``discreet.methods``, ``discreet.attacks``, ``discreet.kinds`` and ``discreet.engines``; each names
one class by the name that jobs, manifests and ``--engine`` use. The group ``discreet.commands``
names functions of the command line (``cli/app.py``). Code that is no installed package, such as an
experiment, registers its classes by ``Registry.register`` in the process that uses them. Built-ins
are found without searching the installed packages, so a job of built-ins alone does not wait for
them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, MutableMapping
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast

from discreet.errors import DiscreetError, EngineError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

Registered = TypeVar("Registered")


class BuiltIns(MutableMapping[str, type[Registered]], Generic[Registered]):
    """Classes by name, each imported when it is first asked for."""

    def __init__(self, homes: Mapping[str, str]) -> None:
        self._homes: dict[str, str | type[Registered]] = dict(homes)  # "module:Class"

    def __getitem__(self, name: str) -> type[Registered]:
        home = self._homes[name]
        if isinstance(home, str):
            module, _, kind = home.partition(":")
            self._homes[name] = home = cast(type[Registered], getattr(import_module(module), kind))
        return home

    def __setitem__(self, name: str, kind: type[Registered]) -> None:
        self._homes[name] = kind

    def __delitem__(self, name: str) -> None:
        del self._homes[name]

    def __contains__(self, name: object) -> bool:
        return name in self._homes

    def __iter__(self) -> Iterator[str]:
        return iter(self._homes)

    def __len__(self) -> int:
        return len(self._homes)

    def without(self, names: Iterable[str]) -> BuiltIns[Registered]:
        """Return the others; what was imported is shared."""
        left: BuiltIns[Registered] = BuiltIns({})
        hidden = set(names)
        left._homes = {name: home for name, home in self._homes.items() if name not in hidden}
        return left


class Registry(Mapping[str, type[Registered]], Generic[Registered]):
    """Classes by name: built-ins in their order, then those of installed packages."""

    def __init__(
        self,
        noun: str,
        group: str,
        base: type,
        built_in: Mapping[str, str] | BuiltIns[Registered],
        reserved: Iterable[str] = (),
    ) -> None:
        self.noun, self.group, self.base = noun, group, base
        self.built_in: BuiltIns[Registered] = (
            built_in if isinstance(built_in, BuiltIns) else BuiltIns(built_in)
        )
        self._reserved = {*self.built_in, *reserved}
        self._registered: dict[str, type[Registered]] = {}
        self._loaded: dict[str, type[Registered]] = {}

    def without(self, names: Iterable[str]) -> Registry[Registered]:
        """Return a registry without some built-ins, whose names no plugin may use either."""
        left = self.built_in.without(names)
        return Registry(self.noun, self.group, self.base, left, self._reserved)

    def register(self, kind: type[Registered]) -> type[Registered]:
        """Add a class of code that is not an installed package, for this process alone."""
        name = name_of(kind)
        if name in self._reserved or self._registered.get(name, kind) is not kind:
            raise EngineError(f"There is a {self.noun} '{name}' already. Choose another name.")
        self._registered[name] = kind
        return kind

    def __getitem__(self, name: str) -> type[Registered]:
        if name in self.built_in:
            return self.built_in[name]
        if name in self._registered:
            return self._registered[name]
        if name not in self._loaded:
            self._loaded[name] = self._load(self._plugins[name])
        return self._loaded[name]

    def __iter__(self) -> Iterator[str]:
        yield from dict.fromkeys([*self.built_in, *self._registered, *self._plugins])

    def __len__(self) -> int:
        return len(list(iter(self)))

    def __contains__(self, name: object) -> bool:
        return name in self.built_in or name in self._registered or name in self._plugins

    @cached_property
    def _plugins(self) -> dict[str, EntryPoint]:
        """The entry points of installed packages, by name; nothing is imported yet."""
        from importlib.metadata import entry_points

        points: dict[str, EntryPoint] = {}
        for point in sorted(entry_points(group=self.group), key=lambda p: (p.name, _origin(p))):
            if point.name in self._reserved:
                raise EngineError(
                    f"{_origin(point)} adds a {self.noun} '{point.name}', which is a built-in "
                    "name. Uninstall the package, or ask its authors for another name."
                )
            if point.name in points:
                raise EngineError(
                    f"{_origin(points[point.name])} and {_origin(point)} both add a {self.noun} "
                    f"'{point.name}'. Uninstall one of them."
                )
            points[point.name] = point
        return points

    def _load(self, point: EntryPoint) -> type[Registered]:
        failed = f"{_origin(point)} adds a {self.noun} '{point.name}', which cannot be used: "
        repair = ". Update or uninstall the package."
        try:
            loaded: Any = point.load()
        except DiscreetError:  # such as the package that an add-on of ours needs
            raise
        except Exception as error:  # whatever the code of a plugin raises
            reason = f"{type(error).__name__}: {error}"
            raise EngineError(f"{failed}{point.value} raises {reason}{repair}") from error
        if not (isinstance(loaded, type) and issubclass(loaded, self.base)):
            reason = f"{point.value} is not a subclass of {self.base.__name__}"
            raise EngineError(f"{failed}{reason}{repair}")
        if name_of(loaded) != point.name:
            raise EngineError(f"{failed}{point.value} is named '{name_of(loaded)}'{repair}")
        return cast(type[Registered], loaded)


def name_of(kind: type) -> str:
    """Return the name that jobs and manifests use for a class."""
    return str(getattr(kind, "name", ""))


def _origin(point: EntryPoint) -> str:
    """The distribution that an entry point comes from."""
    dist = point.dist
    return "A package" if dist is None else f"The package {dist.name} {dist.version}"
