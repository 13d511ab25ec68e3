import { expect, it } from "vitest";
import { isOwnDirectory } from "./own-directories.ts";

it.each([
  ["/home/ada/.ssh", true],
  ["/home/ada/.config/app", true],
  ["/home/ada", true],
  ["/home", true],
  ["/etc/cron.d", true],
  ["/root/.ssh", true],
  ["/root", true],
  ["/var/spool/cron", true],
  ["/home/ada/work", false],
  ["/home/ada/work/.cache", false],
  ["/home/bob/notes", false],
  ["/home/bob/notes/.cache", false],
  ["/home/bob", true],
  ["/home/bob/.ssh", true],
  ["/srv/data", false],
  ["/etcetera", false],
])("%s is for the command line: %s", (path, isOwn) => expect(isOwnDirectory(path, "/home/ada")).toBe(isOwn));

it("has the projects of root's own home", () => {
  expect(isOwnDirectory("/root/work", "/root")).toBe(false);
  expect(isOwnDirectory("/root/.ssh", "/root")).toBe(true);
});
