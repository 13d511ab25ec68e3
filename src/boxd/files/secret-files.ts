import { basename, dirname } from "node:path";
import type { HeldSecrets } from "../../contract/link/messages.ts";
import { SafeDirectory } from "../../safe-path/safe-directory.ts";

/**
 * Puts the files at the paths that the host names. An existing file of the name is replaced, and no link is written
 * through.
 */
export async function writeSecretFiles(files: HeldSecrets["files"]): Promise<void> {
  for (const { path, base64 } of files) {
    await using directory = await SafeDirectory.open(dirname(path));
    await directory.replaceFile(basename(path), 0o600, (file) =>
      file.writeFile(Buffer.from(base64, "base64")),
    );
  }
}
