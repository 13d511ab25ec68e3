import { z } from "zod";
import { toolLanguages } from "../../contract/toolchain.ts";

const toolPattern = new RegExp(`^(?:${toolLanguages.join("|")})(?: [0-9A-Za-z][0-9A-Za-z.+_-]{0,63})?$`);

export const ToolchainsSection = z
  .strictObject({
    find: z
      .enum(["project", "none"])
      .optional()
      .describe(
        "Whether toolchains of your home (pyenv, rustup, nvm, SDKMAN, …) are offered that the project's files ask for. Each is shown to boxes only after your yes.",
      ),
    use: z
      .array(z.string().regex(toolPattern))
      .max(16)
      .optional()
      .describe('Toolchains in the place of those that the files name, such as "python 3.12" or "rust".'),
  })
  .describe("Toolchains of the host that the box has. See: agentbox toolchains.");
