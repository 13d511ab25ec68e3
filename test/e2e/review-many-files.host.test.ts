/** Work of very many files leaves the box by a shorter way than a few; what arrives is the same, to the last bit. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type TestDaemon, startDaemon } from "../support/daemon.ts";
import { makeDirectory, makeProject, reviewOf, runIn, working } from "../support/review.ts";

/** One of everything that git treats in a way of its own. */
const oddWork = `
printf 'a\\r\\nb\\r\\n' > converted.txt; printf 'a\\r\\nb\\r\\n' > kept.bin; printf '$Id$\\n' > stamped.c
printf '*.txt text eol=lf\\n*.bin -text\\n*.c ident\\n*.up filter=upper\\n' > .gitattributes
git config filter.upper.clean 'tr a-z A-Z'; echo shout > it.up
: > empty; echo run > run.sh; chmod +x run.sh; ln -s run.sh link; ln -s /nowhere dangling
echo '*.log' > .gitignore; echo noise > noise.log; mkdir -p deep/er && echo x > deep/er/file
echo changed >> README.md; rm src/cart.js; head -c 40000000 /dev/zero > large.dat
node -e 'require("fs").writeFileSync(Buffer.from([0x6e, 0xff, 0x0a, 0x22]), "odd")'
mkdir inner && git -C inner init -q && echo x > inner/x && git -C inner add x && git -C inner -c user.name=a -c user.email=a@b commit -qm x
`;

/** git's own view of the workspace, without a trace. */
const plainTree = `
export GIT_INDEX_FILE=/tmp/plain-index GIT_OBJECT_DIRECTORY=/tmp/plain-objects
mkdir -p $GIT_OBJECT_DIRECTORY; export GIT_ALTERNATE_OBJECT_DIRECTORIES=/workspace/.git/objects
git -c advice.addEmbeddedRepo=false add -A 2>/dev/null; git write-tree; rm -rf /tmp/plain-*
`;

/** Everything that the agent's git knows: references, objects, index, and what lies about. */
const traces = `
git for-each-ref; find .git/objects -type f | sort; sha256sum .git/index; ls /tmp
`;

const many = (count: number): string =>
  `node -e 'const fs = require("fs"); for (let i = 0; i < ${count}; i++) { const dir = "d" + (i % 50);
     fs.mkdirSync(dir, { recursive: true }); fs.writeFileSync(dir + "/f" + i, "file " + i + "\\n"); }'`;

/** A change of the same size in the second of the last `git add`, which git finds only by the time of its index. */
const quickChange = `
second() { stat -c %Z a.txt; }
while :; do
  echo one > a.txt; git add a.txt; staged=$(second); echo two > a.txt
  if [ "$(second)" = "$staged" ]; then break; fi
done
while [ "$(date +%s)" = "$staged" ]; do :; done
`;

describe("work of many files", () => {
  let daemon: TestDaemon;
  beforeAll(async () => {
    daemon = await startDaemon();
  });
  afterAll(() => daemon[Symbol.asyncDispose]());

  it.each([20, 2_000])(
    "is what git would add, and leaves the agent's repository as it is: %i",
    async (count) => {
      const project = await makeProject(daemon);
      const box = `many-${count}`;
      await working(daemon, project, box, `${oddWork}${many(count)}`);
      const expected = (await runIn(daemon, box, plainTree)).stdout.trim();
      expect(expected).toMatch(/^[0-9a-f]{40}$/);
      const before = (await runIn(daemon, box, traces)).stdout;
      const { checkpoint, changes } = await reviewOf(daemon, box);
      expect(checkpoint?.tree).toBe(expected);
      expect(changes.filter(({ path }) => path.startsWith("d")).length).toBeGreaterThanOrEqual(count);
      expect((await runIn(daemon, box, traces)).stdout).toBe(before);
      // Nothing new: no second checkpoint. Something small: only that is sent.
      expect((await reviewOf(daemon, box)).checkpoint?.number).toBe(1);
      await runIn(daemon, box, "echo more > more.md");
      const second = (await reviewOf(daemon, box)).checkpoint;
      expect(second?.number).toBe(2);
      expect(second?.bytes).toBeLessThan(20_000);
      await daemon.client.removeBox(box, { force: true });
    },
  );

  it("goes on after the agent has pruned its repository, and after its own store is gone or broken", async () => {
    const project = await makeProject(daemon);
    await working(daemon, project, "pruned", many(600));
    expect((await reviewOf(daemon, "pruned")).totals.files).toBe(600);
    const prune = "git reflog expire --expire=now --all; git gc -q --prune=now";
    await runIn(
      daemon,
      "pruned",
      `git add -A; git commit -qm all; echo x > x; git commit -q --amend -am again; ${prune}`,
    );
    expect((await reviewOf(daemon, "pruned")).totals.files).toBe(601);
    await runIn(daemon, "pruned", "rm -rf ~/.agentbox/objects; echo y > y");
    expect((await reviewOf(daemon, "pruned")).totals.files).toBe(602);
    // A broken reader is gone after one failure at most.
    await runIn(
      daemon,
      "pruned",
      "chmod -R u+w ~/.agentbox/objects; find ~/.agentbox/objects -type f -exec sh -c ': > $1' . {} \\;; echo z > z",
    );
    await daemon.cli(["diff", "pruned"]);
    expect((await reviewOf(daemon, "pruned")).totals.files).toBe(603);
  });

  it("has a change that was made right after the agent's own git add", async () => {
    const project = await makeProject(daemon);
    await working(daemon, project, "quick", quickChange);
    const shown = await daemon.cli(["diff", "quick", "a.txt"]);
    expect(shown.stdout).toContain("+two\n");
  });

  it("of a directory that is no repository", async () => {
    const plain = await makeDirectory(daemon, { "a.txt": "a\n" });
    await working(daemon, plain, "plain-many", `${many(600)}; chmod +x d1/f1`);
    const { changes } = await reviewOf(daemon, "plain-many");
    expect(changes).toHaveLength(600);
    expect(changes.find(({ path }) => path === "d1/f1")?.newMode).toBe("100755");
  });
});
