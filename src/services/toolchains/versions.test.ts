import { expect, it } from "vitest";
import { chooseVersion } from "./versions.ts";

const pythons = ["3.9.18", "3.10.13", "3.11.7", "3.12.1", "3.13.0"];
const nodes = ["v18.19.0", "v20.11.1", "v21.0.0", "v22.1.0"];
const rusts = [
  "1.95.0-x86_64-unknown-linux-gnu",
  "nightly-x86_64-unknown-linux-gnu",
  "stable-x86_64-unknown-linux-gnu",
];

it.each<[string | undefined, string[], string | undefined, string | undefined]>([
  ["3.12", pythons, undefined, "3.12.1"],
  ["3.1", pythons, undefined, undefined],
  ["3", pythons, undefined, "3.13.0"],
  ["3", pythons, "3.11.7", "3.11.7"],
  [">=3.9", pythons, "3.11.7", "3.11.7"],
  [">=3.12", pythons, "3.11.7", "3.13.0"],
  [">=3.14", pythons, undefined, undefined],
  ["~=3.11.2", pythons, undefined, "3.11.7"],
  [undefined, pythons, "3.12.1", "3.12.1"],
  [undefined, pythons, undefined, undefined],
  [undefined, pythons, "system", undefined],
  ["system", pythons, "3.12.1", undefined],
  ["2.7", pythons, "3.12.1", undefined],
  ["20", nodes, undefined, "v20.11.1"],
  ["v20.11.1", nodes, undefined, "v20.11.1"],
  ["^20.1.0", nodes, undefined, "v20.11.1"],
  ["20.x", nodes, undefined, "v20.11.1"],
  ["lts/*", nodes, undefined, "v22.1.0"],
  ["node", nodes, undefined, "v22.1.0"],
  ["stable", rusts, undefined, "stable-x86_64-unknown-linux-gnu"],
  ["1.95", rusts, undefined, "1.95.0-x86_64-unknown-linux-gnu"],
  ["nightly", rusts, "stable-x86_64-unknown-linux-gnu", "nightly-x86_64-unknown-linux-gnu"],
  ["../../etc", pythons, undefined, undefined],
])("%j of %j, with %j as the person's own, is %j", (wanted, installed, preferred, chosen) => {
  expect(chooseVersion(wanted, installed, preferred)).toBe(chosen);
});
