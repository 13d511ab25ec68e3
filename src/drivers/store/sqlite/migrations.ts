/**
 * The shape of the store, one numbered step after the other. A step that has been released is never edited; a
 * change is a new step. `user_version` of the file says how many have been applied.
 */
import { chainOldEvents } from "./chain-old-events.ts";
import type { Sqlite } from "./database.ts";

/** Statements, or what statements alone cannot do; both run inside the one transaction. */
export type Migration = string | ((db: Sqlite) => void);

export const migrations: readonly Migration[] = [
  `
  CREATE TABLE boxes (
    name TEXT PRIMARY KEY,
    incarnation TEXT NOT NULL,
    phase TEXT NOT NULL,
    box TEXT NOT NULL
  ) STRICT;

  CREATE TABLE events (
    id INTEGER PRIMARY KEY,
    at_ms INTEGER NOT NULL,
    type TEXT NOT NULL,
    box TEXT,
    incarnation TEXT,
    data TEXT NOT NULL
  ) STRICT;
  CREATE INDEX events_by_box ON events (box, id);
  CREATE INDEX events_by_type ON events (type, id);
  -- The log is append-only even for our own mistakes.
  CREATE TRIGGER events_never_change BEFORE UPDATE ON events
    BEGIN SELECT RAISE(ABORT, 'events are append-only'); END;
  CREATE TRIGGER events_never_go BEFORE DELETE ON events
    BEGIN SELECT RAISE(ABORT, 'events are append-only'); END;

  CREATE TABLE trust (
    project_dir TEXT NOT NULL,
    digest TEXT NOT NULL,
    requests TEXT NOT NULL,
    granted_at_ms INTEGER NOT NULL,
    PRIMARY KEY (project_dir, digest)
  ) STRICT;
  `,
  `
  CREATE TABLE grants (
    project_dir TEXT NOT NULL,
    id TEXT NOT NULL,
    rule TEXT NOT NULL,
    PRIMARY KEY (project_dir, id)
  ) STRICT;

  CREATE TABLE egress (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    box TEXT NOT NULL,
    host TEXT NOT NULL,
    verdict TEXT NOT NULL,
    record TEXT NOT NULL
  ) STRICT;
  CREATE INDEX egress_by_box ON egress (box, verdict, id);
  `,
  `
  -- One row for each request to a model. Where the answer had no usage (\`is_estimated\`), input and output are what
  -- was expected of it, so that sums need no case distinction.
  CREATE TABLE model (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    at_ms INTEGER NOT NULL,
    box TEXT NOT NULL,
    incarnation TEXT NOT NULL,
    run INTEGER NOT NULL,
    agent TEXT NOT NULL,
    project_dir TEXT,
    provider TEXT NOT NULL,
    model TEXT NOT NULL,
    is_estimated INTEGER NOT NULL,
    input INTEGER NOT NULL,
    output INTEGER NOT NULL,
    cached INTEGER NOT NULL,
    cache_write INTEGER NOT NULL,
    reasoning INTEGER NOT NULL,
    estimate_input INTEGER NOT NULL,
    estimate_output INTEGER NOT NULL,
    cost_micro_usd INTEGER,
    status INTEGER NOT NULL,
    error TEXT,
    duration_ms INTEGER NOT NULL,
    first_byte_ms INTEGER
  ) STRICT;
  -- Holds all that a sum needs: a box's rows are far apart in the table, and reading each costs ten times as much.
  CREATE INDEX model_by_box ON model (box, incarnation, run, at_ms, input, output, cached, cache_write, reasoning,
    cost_micro_usd, is_estimated);
  CREATE INDEX model_by_time ON model (at_ms);
  CREATE INDEX model_by_project ON model (project_dir, at_ms);
  `,
  `
  CREATE TABLE review (
    incarnation TEXT NOT NULL,
    kind TEXT NOT NULL,
    key TEXT NOT NULL,
    box TEXT NOT NULL,
    project_dir TEXT,
    value TEXT NOT NULL,
    PRIMARY KEY (incarnation, kind, key)
  ) STRICT;
  CREATE INDEX review_by_box ON review (box);
  CREATE INDEX review_by_project ON review (project_dir) WHERE project_dir IS NOT NULL;
  `,
  `
  CREATE TABLE secret_grants (
    secret TEXT NOT NULL,
    scope TEXT NOT NULL,
    use TEXT NOT NULL,
    -- Of a grant for one box.
    box TEXT,
    value TEXT NOT NULL,
    PRIMARY KEY (secret, scope, use)
  ) STRICT;
  CREATE INDEX secret_grants_by_box ON secret_grants (box) WHERE box IS NOT NULL;

  -- Records are not checked again when they are read, so boxes from before have the list from here on.
  UPDATE boxes SET box = json_set(box, '$.spec.secrets', json('[]'))
    WHERE json_type(box, '$.spec.secrets') IS NULL;

  ALTER TABLE egress ADD COLUMN secret TEXT;
  DROP INDEX egress_by_box;
  CREATE INDEX egress_by_share ON egress (box, verdict, secret, id);
  CREATE INDEX egress_by_box ON egress (box, id);
  CREATE INDEX egress_by_secret ON egress (secret, id) WHERE secret IS NOT NULL;

  ALTER TABLE events ADD COLUMN digest TEXT NOT NULL DEFAULT '';
  DROP TRIGGER events_never_change;
  `,
  chainOldEvents,
  `
  CREATE TRIGGER events_never_change BEFORE UPDATE ON events
    BEGIN SELECT RAISE(ABORT, 'events are append-only'); END;
  `,
  `
  -- Where a bound secret may be sent. Quotes within a text are escaped, so only keys are renamed.
  UPDATE boxes SET box = replace(box, '"places":', '"destinations":');
  `,
  `
  CREATE TABLE queue (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
  `,
  `
  -- Sums of the records by host: records are bounded, and a box's totals are of its whole life.
  CREATE TABLE egress_totals (
    box TEXT NOT NULL,
    incarnation TEXT NOT NULL,
    host TEXT NOT NULL,
    port INTEGER NOT NULL,
    value TEXT NOT NULL,
    PRIMARY KEY (box, incarnation, host, port)
  ) STRICT, WITHOUT ROWID;
  INSERT INTO egress_totals (box, incarnation, host, port, value)
    SELECT box, record ->> 'incarnation', host, record ->> 'port', json_object(
      'host', host, 'port', record ->> 'port', 'requests', sum(verdict = 'allow'), 'denials', sum(verdict = 'deny'),
      'bytesOut', sum(record ->> 'bytesOut'), 'bytesIn', sum(record ->> 'bytesIn'), 'lastAtMs', max(record ->> 'atMs'))
    FROM egress WHERE record ->> 'incarnation' <> '' GROUP BY 1, 2, 3, 4;
  `,
];

/** "AGBX": tells our files from other people's SQLite databases. */
export const applicationId = 0x41_47_42_58;
