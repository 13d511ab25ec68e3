import { WebglAddon } from "@xterm/addon-webgl";
import type { Terminal } from "@xterm/xterm";
import { takeColoursAsProperties } from "./strict-document.ts";

/** WebGL on the processor is slower than plain elements, and takes the processor away from everything else. */
const onProcessor = /swiftshader|llvmpipe|softpipe|software|basic render/i;

function hasGraphics(): boolean {
  const context = document
    .createElement("canvas")
    .getContext("webgl2", { failIfMajorPerformanceCaveat: true });
  if (!context) return false;
  const names = context.getExtension("WEBGL_debug_renderer_info");
  const name = String(context.getParameter(names?.UNMASKED_RENDERER_WEBGL ?? context.RENDERER));
  context.getExtension("WEBGL_lose_context")?.loseContext();
  return !onProcessor.test(name);
}

let isGraphical: boolean | undefined;

function drawWithElements(terminal: Terminal, changed: (renderer: "webgl" | "dom") => void): void {
  takeColoursAsProperties(terminal);
  changed("dom");
}

/** Draws with the graphics card where there is one; plain elements otherwise, also when the card is lost later. */
export function chooseRenderer(
  terminal: Terminal,
  { isCompact }: { readonly isCompact: boolean },
  changed: (renderer: "webgl" | "dom") => void,
): void {
  drawWithElements(terminal, changed);
  isGraphical ??= hasGraphics();
  if (isCompact || !isGraphical) return;
  try {
    const addon = new WebglAddon();
    addon.onContextLoss(() => {
      addon.dispose();
      drawWithElements(terminal, changed);
    });
    terminal.loadAddon(addon);
    changed("webgl");
  } catch {
    drawWithElements(terminal, changed);
  }
}
