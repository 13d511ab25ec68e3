// The test suites of real projects in a box against the same suites outside, each on a fresh copy, in turns: the time from
// its start to its end, median of 3. What a registry does not give is left out.
import { cpSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { withDaemon } from "../test/support/daemon.ts";
import { runProgram } from "../test/support/program.ts";
import { fetchProject, makeProjectBox, realProjects } from "../test/support/real-projects.ts";
import { type Bench, type Result, alternate, compare } from "./support/bench.ts";

const rounds = 3;
const goal = 1.1;
const timeoutMs = 600_000;

const bench: Bench = {
  name: "real-projects",
  about: "test suites of real projects in a box against outside",
  async run() {
    const results: Result[] = [];
    const ground = mkdtempSync(join(tmpdir(), "ab-bench-real-"));
    try {
      await withDaemon(
        async (daemon) => {
          for (const project of realProjects) {
            const name = `real-projects-${project.language.toLowerCase()}`;
            const dir = join(ground, project.language);
            mkdirSync(dir);
            const why = await fetchProject(project, dir);
            if (why !== undefined) {
              results.push({ name, skipped: why });
              continue;
            }
            const box = await makeProjectBox(daemon, project, dir);
            let copies = 0;
            const fresh = (cd: string) => `cp -a ${cd} ~/real-$$ && cd ~/real-$$ && { ${project.test}; }`;
            const outside = async () => {
              const copy = join(ground, `${project.language}-${++copies}`);
              cpSync(dir, copy, { recursive: true });
              await runProgram(["sh", "-c", project.test], { cwd: copy, timeoutMs });
            };
            const inside = () =>
              daemon.cli(["exec", box, "--no-stdin", "--", "sh", "-c", fresh("/workspace")], { timeoutMs });
            const times = await alternate(rounds, inside, outside);
            results.push(compare({ name, unit: "ms", ...times, peerName: "outside", goal }));
            await daemon.client.removeBox(box, { force: true });
          }
        },
        { env: { HOME: homedir() } },
      );
    } finally {
      rmSync(ground, { recursive: true, force: true });
    }
    return results;
  },
};

export default bench;
