// Starts the scripted model by hand; run it with `node test/model/serve.mjs`.
import { appendFileSync } from "node:fs";
import { parseArgs } from "node:util";
import type { LoggedRequest } from "./model-desk.ts";
import { isScriptName, namedScripts } from "./named-scripts.ts";
import { startScriptedModel } from "./scripted-model.ts";

const { values } = parseArgs({
  options: {
    port: { type: "string", default: "0" },
    host: { type: "string", default: "127.0.0.1" },
    script: { type: "string", default: "write-and-run" },
    file: { type: "string", default: "hello.txt" },
    text: { type: "string", default: "hello\n" },
    command: { type: "string", default: "echo ran > ran.txt" },
    "no-websocket": { type: "boolean", default: false },
    /** A file that gets one line of JSON per request, with the whole body. */
    dump: { type: "string" },
  },
});

const print = (line: string) => process.stdout.write(`${line}\n`);

function show(request: LoggedRequest): void {
  const { api, transport, method, path, model, isSideCall, conversation } = request;
  const position = conversation ? `turn ${conversation.turn} round ${conversation.round}` : "";
  const tools = conversation ? `${conversation.tools.length} tools` : "";
  print(
    [method, path, api, transport, model, position, tools, isSideCall ? "side call" : ""]
      .filter(Boolean)
      .join("  "),
  );
  if (values.dump) appendFileSync(values.dump, `${JSON.stringify(request)}\n`);
}

if (isScriptName(values.script)) {
  const model = await startScriptedModel({
    script: namedScripts[values.script]({ file: values.file, text: values.text, command: values.command }),
    port: Number(values.port),
    host: values.host,
    webSocket: !values["no-websocket"],
    onRequest: show,
  });
  print(model.url);
  const stop = () => {
    print(JSON.stringify({ usage: model.usageTotals.all }));
    void model[Symbol.asyncDispose]();
  };
  process.once("SIGINT", stop).once("SIGTERM", stop);
} else {
  print(`There is no script "${values.script}". There are: ${Object.keys(namedScripts).join(", ")}`);
  process.exitCode = 2;
}
