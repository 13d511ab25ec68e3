import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "libsql";
import { expect, it } from "vitest";
import { sampleBox } from "../../../ports/store-samples.ts";
import sqlite from "./index.ts";
import { applicationId, migrations } from "./migrations.ts";

/** Steps of the releases that named the destinations of a secret "places". */
const oldSteps = 6;

it("names the destinations of a secret in boxes from before, and changes no text in them", async () => {
  const directory = await mkdtemp(join(tmpdir(), "agentbox-store-"));
  const hand = new Database(join(directory, "store.db"));
  try {
    for (const step of migrations.slice(0, oldSteps)) {
      if (typeof step === "string") hand.exec(step);
      else step(hand);
    }
    hand.exec(`PRAGMA application_id = ${applicationId}; PRAGMA user_version = ${oldSteps}`);
    const box = sampleBox("one");
    const text = 'it says "places": []';
    const old = {
      ...box,
      note: text,
      spec: { ...box.spec, secrets: [{ use: { kind: "ssh", places: [1] } }] },
    };
    hand
      .prepare("INSERT INTO boxes (name, incarnation, phase, box) VALUES ('one', 'one-first', 'creating', ?)")
      .run(JSON.stringify(old));
    await using store = await sqlite.open(join(directory, "store.db"));
    expect(await store.findBox("one")).toMatchObject({
      note: text,
      spec: { secrets: [{ use: { kind: "ssh", destinations: [1] } }] },
    });
  } finally {
    hand.close();
    await rm(directory, { recursive: true, force: true });
  }
});
