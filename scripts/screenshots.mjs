// `node scripts/screenshots.mjs [NAME …]`: pictures of the dashboard into docs/images, from real boxes and a real agent,
// at desktop and phone size, light and dark. Needs Chromium; installs it where that needs no question.
import { mkdir, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";
import { fail, root } from "./steps.mjs";
import { ensurePrograms } from "./system-packages.mjs";

await import("./setup.mjs");
const { isInstalled, reason } = await ensurePrograms({ chromium: "chromium" });
if (!isInstalled) fail(reason);

const images = join(root, "docs/images");
const sizes = {
  desktop: { width: 1280, height: 800 },
  phone: { width: 390, height: 844 },
};

/** The pictures: a name, its address, and the event to wait for. */
const shots = ({ done, busy, shell }) => [
  { name: "fleet", path: "/" },
  { name: "box", path: `/box/${busy}` },
  { name: "terminal", path: `/box/${shell}/terminal`, waitFor: ".xterm-rows, .xterm-screen canvas" },
  { name: "review", path: `/box/${done}/review` },
  { name: "inbox", path: "/inbox" },
  { name: "new-box", path: "/new" },
  { name: "cost", path: "/cost" },
  { name: "network", path: "/box/shop-api-stock/network" },
];

/** The scene's projects lie in a directory that is made for it; the picture shows it as a person's home. */
function showHome(above) {
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = texts.nextNode(); node; node = texts.nextNode())
    if (node.data.includes(`${above}/`)) node.data = node.data.replace(/\/\S*\/abx-[^/\s]+/g, "~");
}

async function openScene() {
  const { build } = await import("esbuild");
  const outdir = join(root, "node_modules", ".cache", `scene-${process.pid}`);
  await mkdir(outdir, { recursive: true });
  const outfile = join(outdir, "scene.mjs");
  await build({
    entryPoints: [join(root, "test/support/scene.ts")],
    outfile,
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node20",
    packages: "external",
    logLevel: "warning",
  });
  try {
    return await (await import(pathToFileURL(outfile).href)).openScene();
  } finally {
    await rm(outdir, { recursive: true, force: true });
  }
}

const scene = await openScene();
const browser = await chromium.launch({
  executablePath: "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-sync"],
});
try {
  await mkdir(images, { recursive: true });
  for (const [size, viewport] of Object.entries(sizes))
    for (const theme of ["light", "dark"]) {
      const { url } = await scene.daemon.client.openLink();
      const context = await browser.newContext({ viewport, colorScheme: theme, deviceScaleFactor: 1 });
      const page = await context.newPage();
      await page.goto(url);
      await page.locator(".app-main").waitFor();
      for (const { name, path, waitFor } of shots(scene.boxes)) {
        if (process.argv.length > 2 && !process.argv.includes(name)) continue;
        await page.goto(new URL(path, url).href);
        await page
          .locator(waitFor ?? ".app-main h1, .app-main h2")
          .first()
          .waitFor();
        while ((await page.locator(".parts-skeleton").count()) > 0) await page.waitForTimeout(100);
        // Charts and terminals draw in the next frames; a picture is no test.
        await page.waitForTimeout(700);
        await page.evaluate(showHome, dirname(scene.daemon.scratch));
        const file = `${name}-${size}-${theme}.png`;
        await page.screenshot({ path: join(images, file) });
        console.log(file);
      }
      await context.close();
    }
} finally {
  await browser.close();
  await scene[Symbol.asyncDispose]();
}
