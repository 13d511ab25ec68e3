import { describe, expect, it } from "vitest";
import { debianSources } from "./apt-sources.ts";
import { bootstrapArgv } from "./debian-base.ts";
import { allPackages, readDpkgStatus } from "./packages.ts";

describe("packages", () => {
  it("takes names of packages and nothing else", () => {
    expect(allPackages(["ripgrep", "g++", "libc6-dev", "git"])).toEqual([
      "ca-certificates",
      "g++",
      "git",
      "libc6-dev",
      "openssh-client",
      "ripgrep",
    ]);
    for (const name of [
      "-y",
      "--x",
      "a,b",
      "a b",
      "a=1",
      "a/sid",
      "git-",
      "Git",
      "?x",
      "~n",
      "$(id)",
      "a\n",
      "",
      "x",
    ]) {
      expect(() => allPackages([name]), name).toThrow(expect.objectContaining({ code: "image.invalid" }));
    }
  });

  it("hands all of them over as one argument, behind no option of theirs", () => {
    const argv = bootstrapArgv({ suite: "bookworm", packages: ["git", "ripgrep"] }, true);
    expect(argv).toContain("--include=git,ripgrep");
    expect(argv.slice(argv.lastIndexOf("--"))).toEqual(["--", "bookworm", "-", "-"]);
    expect(bootstrapArgv({ suite: "bookworm", packages: [] }, false)).toContain("--mode=unshare");
  });

  it("reads what dpkg has installed, sorted", () => {
    const text = [
      "Package: b\nStatus: install ok installed\nVersion: 1:2\nArchitecture: amd64\n",
      "Package: gone\nStatus: deinstall ok config-files\nVersion: 1\nArchitecture: all\n",
      "Package: a\nStatus: install ok installed\nVersion: 3\nArchitecture: all\n",
    ].join("\n");
    expect(readDpkgStatus(text)).toEqual([
      { name: "a", version: "3", architecture: "all" },
      { name: "b", version: "1:2", architecture: "amd64" },
    ]);
  });
});

describe("debianSources", () => {
  const vendor = "Types: deb\nURIs: https://vendor.test/x\nSuites: nodistro\nComponents: main\n";
  const own =
    "Types: deb\n# why\nURIs: http://mirror.test/debian\nSuites: bookworm bookworm-updates\nComponents: main contrib\nSigned-By: /usr/share/keyrings/k.gpg\n";

  it("keeps the release's own sources and leaves other vendors out", () => {
    const text = debianSources(
      [
        { name: "debian.sources", text: `${own}\n${vendor}` },
        {
          name: "more.list",
          text: "deb [signed-by=/k.gpg] http://mirror.test/sec bookworm-security main # x\n# deb http://no.test bookworm main\ndeb http://vendor.test bookworm stable\n",
        },
      ],
      "bookworm",
    );
    expect(text).toBe(
      "Types: deb\nURIs: http://mirror.test/debian\nSuites: bookworm bookworm-updates\nComponents: main\nSigned-By: /usr/share/keyrings/k.gpg\n" +
        "\nTypes: deb\nURIs: http://mirror.test/sec\nSuites: bookworm-security\nComponents: main\nSigned-By: /k.gpg\n",
    );
    expect(debianSources([{ name: "x.sources", text: own }], "trixie")).toBe("");
    expect(debianSources([{ name: "x.sources", text: `Enabled: no\n${own}` }], "bookworm")).toBe("");
  });
});
