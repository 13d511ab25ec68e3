/**
 * The shape of the store, one numbered step after the other. A step that has been released is never edited; a
 * change is a new step. `user_version` of the file says how many have been applied.
 */
export const migrations: readonly string[] = [
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
];

/** "AGBX": tells our files from other people's SQLite databases. */
export const applicationId = 0x41_47_42_58;
