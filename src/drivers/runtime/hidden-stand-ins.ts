/**
 * Keeps stand-ins out of the person's `git status`: while they are there, `.git/info/exclude` of the workspace names them
 * between two lines of ours. Everything else in that file stays as it is, and where it is not plainly the person's own
 * file, it is left alone.
 */
import { visibleStandIns } from "../../contract/guarded-paths.ts";
import { SafeDirectory } from "../../safe-path/safe-directory.ts";

const begin = "# agentbox: stand-ins while a box works here";
const end = "# agentbox: end";
const block = [begin, ...visibleStandIns.map((name) => `/${name}`), end, ""].join("\n");
const maxBytes = 1024 * 1024;

const without = (text: string): string => {
  const from = text.startsWith(`${begin}\n`) ? 0 : text.indexOf(`\n${begin}\n`) + 1;
  if (from === 0 && !text.startsWith(begin)) return text;
  const to = text.indexOf(`\n${end}\n`, from);
  return to === -1 ? text : text.slice(0, from) + text.slice(to + end.length + 2);
};

export const hideStandIns = (workspace: string): Promise<void> =>
  rewrite(workspace, (text) => {
    const own = without(text);
    return `${own}${own === "" || own.endsWith("\n") ? "" : "\n"}${block}`;
  });

export const showStandIns = (workspace: string): Promise<void> => rewrite(workspace, without);

/** A convenience: what cannot be written leaves the stand-ins in sight, and nothing worse. */
async function rewrite(workspace: string, change: (text: string) => string): Promise<void> {
  try {
    await using root = await SafeDirectory.open(workspace);
    await using git = await root.openDirectory(".git");
    await using info = await git.openDirectory("info");
    const file = await info.openFile("exclude");
    try {
      const { size, nlink, mode, uid, gid } = await file.stat();
      // SECURITY: root writes here. Two names for one file, or a huge one, is nothing that git has made.
      if (nlink !== 1 || size > maxBytes) return;
      const before = await file.readFile("latin1");
      const after = change(before);
      if (after === before) return;
      await info.replaceFile("exclude", mode, async (fresh) => {
        await fresh.writeFile(after, "latin1");
        if (process.getuid?.() === 0) await fresh.chown(uid, gid);
      });
    } finally {
      await file.close();
    }
  } catch {
    return;
  }
}
