/** The facts that must hold after every refused bundle. */
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import type { ReviewRepository } from "../../ports/review.ts";
import type { Scene } from "./review.fixture.ts";

/** Everything the repository consists of, by path and size. */
const contents = (repository: ReviewRepository): string[] =>
  readdirSync(repository.gitDir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .map((file) => `${file} ${statSync(file).size}`)
    .toSorted();

let serial = 0;

/** Refused with a sentence, nothing changed, and the next good bundle is taken. */
export async function expectBundleRefused(
  { scene, box, review }: { scene: Scene; box: string; review: ReviewRepository },
  file: string,
  sentence: RegExp,
): Promise<void> {
  const before = contents(review);
  await expect(review.take(file, 1)).rejects.toMatchObject({
    code: "review.bad_bundle",
    message: expect.stringMatching(sentence) as string,
  });
  expect(contents(review)).toEqual(before);
  scene.write(box, { "good.txt": `good ${++serial}\n` });
  const good = scene.snapshot(box, await review.have());
  await expect(review.take(good, 1)).resolves.toMatchObject({ head: scene.head(box) });
}
