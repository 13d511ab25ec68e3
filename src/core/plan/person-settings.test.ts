import { describe, expect, it } from "vitest";
import { personSettings } from "./person-settings.ts";

const here = { hasImage: false };

describe("personSettings", () => {
  it("takes time zone, language, editor and author, and nothing else", () => {
    const variables = {
      TZ: "Europe/Berlin",
      LANG: "de_DE.UTF-8",
      COLORTERM: "truecolor",
      EDITOR: "vim -n",
      PAGER: "less",
      AGENTBOX_GIT_NAME: "Ada",
      AGENTBOX_GIT_EMAIL: " ada@example.com ",
      AWS_SECRET_ACCESS_KEY: "x",
      PATH: "/x",
    };
    expect(personSettings(variables, here)).toEqual({
      env: {
        TZ: "Europe/Berlin",
        LANG: "de_DE.UTF-8",
        COLORTERM: "truecolor",
        EDITOR: "vim -n",
        PAGER: "less",
      },
      git: { name: "Ada", email: "ada@example.com" },
    });
    // An image has locales, zones and editors of its own.
    expect(personSettings(variables, { hasImage: true })).toEqual({
      env: {},
      git: { name: "Ada", email: "ada@example.com" },
    });
  });

  it.each([
    ["TZ", "/etc/shadow"],
    ["TZ", ":../../etc/x"],
    ["LANG", "POSIX"],
    ["LANG", "de_DE.ISO-8859-1"],
    ["LC_ALL", "../../x.UTF-8"],
    ["EDITOR", "vim; rm -rf ~"],
    ["EDITOR", "$(id)"],
    ["PAGER", "less\n"],
    ["COLORTERM", "1\u001b[2J"],
    ["AGENTBOX_GIT_NAME", " "],
    ["AGENTBOX_GIT_EMAIL", "x".repeat(257)],
    ["__proto__", "UTC"],
  ])("leaves out %s=%j", (name, value) => {
    expect(personSettings(Object.fromEntries([[name, value]]), here)).toBeUndefined();
  });
});
