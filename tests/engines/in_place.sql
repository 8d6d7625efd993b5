-- snowflake
CREATE TEMPORARY TABLE discreet_counts AS
SELECT
  ROW_NUMBER() OVER () - 1 AS entry,
  cells.*
FROM (
  SELECT
    "age" AS c0,
    "ill" AS c1,
    COUNT(*) AS n
  FROM (
    SELECT
      *
    FROM "people"
  ) AS source
  GROUP BY
    1,
    2
) AS cells;

CREATE TABLE "of_records" AS
SELECT
  shown."age",
  shown."ill"
FROM (
  SELECT
    r.p0 AS "age",
    c.c1 AS "ill",
    r.n AS discreet_times
  FROM discreet_recoding AS r
  JOIN discreet_counts AS c
    ON c.entry = r.entry
  ORDER BY
    r.place
) AS shown
CROSS JOIN TABLE(FLATTEN(INPUT => ARRAY_GENERATE_RANGE(1, shown.discreet_times + 1))) AS copies(seq, key, path, index, copy, this);

SELECT
  "age" AS c0,
  "ill" AS c1,
  COUNT(*) AS n
FROM "of_records"
GROUP BY
  1,
  2;

ALTER TABLE "discreet_partial"
RENAME TO "of_records";

-- bigquery
CREATE TEMPORARY TABLE discreet_counts AS
SELECT
  ROW_NUMBER() OVER () - 1 AS entry,
  cells.*
FROM (
  SELECT
    `age` AS c0,
    `ill` AS c1,
    COUNT(*) AS n
  FROM (
    SELECT
      *
    FROM `people`
  ) AS source
  GROUP BY
    1,
    2
) AS cells;

CREATE TABLE `of_records` AS
SELECT
  shown.`age`,
  shown.`ill`
FROM (
  SELECT
    r.p0 AS `age`,
    c.c1 AS `ill`,
    r.n AS discreet_times
  FROM discreet_recoding AS r
  JOIN discreet_counts AS c
    ON c.entry = r.entry
  ORDER BY
    r.place NULLS LAST
) AS shown
CROSS JOIN UNNEST(GENERATE_ARRAY(1, shown.discreet_times)) AS copy;

SELECT
  `age` AS c0,
  `ill` AS c1,
  COUNT(*) AS n
FROM `of_records`
GROUP BY
  1,
  2;

ALTER TABLE `discreet_partial`
RENAME TO `of_records`;
