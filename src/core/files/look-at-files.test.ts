import { describe, expect, it } from "vitest";
import type { StreamInput, StreamOp, StreamOutput } from "../../contract/link/messages.ts";
import type { LinkStream } from "../../ports/link.ts";
import type { Core } from "../context.ts";
import { listPorts } from "../exec/list-ports.ts";
import { listFiles, readFile } from "./look-at-files.ts";
import { writeFile } from "./write-file.ts";

type Said = StreamOutput | string;

/** A box that gives exactly this answer to every request; `asked` has the request. */
function coreOf(said: readonly Said[], error?: Error) {
  const asked: (StreamOp | StreamInput | string)[] = [];
  const events: { type: string; data: unknown }[] = [];
  const box = { name: "shop", state: { phase: "running" }, spec: { services: [] } };
  const open = async (op: StreamOp): Promise<LinkStream> => {
    asked.push(op);
    const messages: ((message: StreamOutput) => void)[] = [];
    const data: ((chunk: Uint8Array, channel: 1) => void)[] = [];
    const closes: ((error?: Error) => void)[] = [];
    setImmediate(() => {
      for (const one of said) {
        if (typeof one === "string") for (const listener of data) listener(Buffer.from(one), 1);
        else for (const listener of messages) listener(one);
      }
      for (const listener of closes) listener(error);
    });
    return {
      onMessage: (listener) => void messages.push(listener),
      onData: (listener) => void data.push(listener),
      onClose: (listener) => void closes.push(listener),
      onDrain: () => undefined,
      write: (chunk) => (asked.push(Buffer.from(chunk).toString()), true),
      send: (message) => void asked.push(message),
      endInput: () => undefined,
      pause: () => undefined,
      resume: () => undefined,
      close: () => undefined,
    };
  };
  const note = (type: string, _box: unknown, data: unknown) => void events.push({ type, data });
  const core = {
    getBox: async () => box,
    live: new Map([["shop", { link: { open, waitConnected: async () => undefined } }]]),
    background: () => undefined,
    note,
    noteFromBox: note,
  } as unknown as Core;
  return { core, asked, events };
}

const listed = (name: string, size = 0): StreamOutput => ({ type: "listed", name, kind: "file", size });
const end: StreamOutput = { type: "end" };

async function textOf(core: Core, limit?: number): Promise<string> {
  const { chunks } = await readFile(core, "shop", { path: "a", offset: 0, limit });
  let text = "";
  for await (const chunk of chunks) text += Buffer.from(chunk).toString();
  return text;
}

describe("what a box says about its files", () => {
  it("is taken as it comes, up to a limit", async () => {
    const many = Array.from({ length: 6_000 }, (_, index) => listed(`f${index}`));
    const { entries, total } = await listFiles(coreOf([...many, end]).core, "shop", "");
    expect([entries.length, total]).toEqual([5_000, 5_000]);
    expect(
      await listFiles(coreOf([listed("a"), { type: "end", entries: 9 }]).core, "shop", ""),
    ).toMatchObject({
      entries: [{ name: "a" }],
      total: 9,
    });
  });

  it("is as many bytes as were announced, or a failure", async () => {
    expect(await textOf(coreOf([listed("a", 4), "four", end]).core)).toBe("four");
    expect(await textOf(coreOf([listed("a", 4), "fo", end]).core, 2)).toBe("fo");
    const more = await readFile(coreOf([listed("a", 4), "fourteen", end]).core, "shop", {
      path: "a",
      offset: 0,
    });
    const taken = more.chunks[Symbol.asyncIterator]();
    // Not even the first of them: they would be part of the next answer.
    await expect(taken.next()).rejects.toMatchObject({ code: "link.violation" });
    await expect(textOf(coreOf([listed("a", 4), "for", end]).core)).rejects.toMatchObject({
      code: "link.violation",
    });
    await expect(textOf(coreOf(["four", end]).core)).rejects.toMatchObject({ code: "link.violation" });
    const cut = coreOf([listed("a", 4), "fo"], new TypeError("cut")).core;
    await expect(textOf(cut)).rejects.toThrow("cut");
  });

  it("chooses words and never the meaning, and an old box is known by what it does not know", async () => {
    const failing = (code: string, message: string) =>
      listFiles(coreOf([{ type: "failed", code, message }]).core, "shop", "");
    await expect(failing("file.not_found", "no\u001b[2J")).rejects.toMatchObject({
      code: "file.not_found",
      message: "no\\u{1b}[2J",
    });
    await expect(failing("made.up", "x")).rejects.toMatchObject({ code: "box.unreachable" });
    const old = coreOf([
      { type: "failed", code: "file.failed", message: "There is no stream of kind ports.list." },
    ]);
    await expect(listPorts(old.core, "shop")).rejects.toMatchObject({
      code: "box.too_old",
      hint: "Restart the box.",
    });
  });
});

describe("a path", () => {
  it("is below the workspace, in each of its forms", async () => {
    for (const [path, below] of [
      ["", "."],
      [".", "."],
      ["/workspace", "."],
      ["/workspace/a/b", "a/b"],
      ["a//./b/", "a/b"],
    ] as const) {
      const { core, asked } = coreOf([end]);
      await listFiles(core, "shop", path);
      expect(asked[0], path).toEqual({ kind: "files.list", path: below });
    }
  });

  it("that leaves it never gets to the box, and is written down", async () => {
    for (const path of ["..", "a/../../b", "/etc/passwd", "/workspaces", "a\0b"]) {
      const { core, asked, events } = coreOf([end]);
      await expect(listFiles(core, "shop", path), path).rejects.toMatchObject({ code: "file.unsafe_path" });
      await expect(writeFile(core, "shop", { path, content: new Uint8Array() })).rejects.toMatchObject({
        code: "file.unsafe_path",
      });
      expect(asked).toEqual([]);
      expect(events).toMatchObject([{ type: "files.refused" }, { type: "files.refused" }]);
    }
  });
});

it("a file is written from the workspace down, as one entry", async () => {
  const { core, asked } = coreOf([end]);
  await writeFile(core, "shop", { path: "/workspace/a/b.txt", content: Buffer.from("hello") });
  expect(asked).toEqual([
    { kind: "files.write", path: "." },
    { type: "entry", path: "a/b.txt", kind: "file", mode: 0o644, size: 5 },
    "hello",
    { type: "end" },
  ]);
  await expect(
    writeFile(core, "shop", { path: "/workspace", content: new Uint8Array() }),
  ).rejects.toMatchObject({
    code: "input.invalid",
  });
});
