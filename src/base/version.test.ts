import { expect, it } from "vitest";
import packageJson from "../../package.json" with { type: "json" };
import { version } from "./version.ts";

it("has the version of the package", () => expect(version).toBe(packageJson.version));
