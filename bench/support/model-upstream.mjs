// The provider of the model gateway's rows: Anthropic Messages as streams of as many bytes as the path says, at once or a
// piece every few milliseconds. It prints its port, and on GET /totals the tokens it has said to have used.
import { once } from "node:events";
import { createServer } from "node:http";

const event = (data) => `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`;
const delta = event({
  type: "content_block_delta",
  index: 0,
  delta: { type: "text_delta", text: "a few words of an answer, as long as a model's pieces are; " },
});
const piece = Buffer.from(delta.repeat(Math.ceil(65_536 / delta.length)));
const small = Buffer.from(delta.repeat(Math.ceil(4_096 / delta.length)));
const totals = { input: 0, output: 0, requests: 0 };

function usageOf(request) {
  const input = 100 + (request % 977);
  return { input, output: 10 + (request % 313) };
}

function start(response) {
  const usage = usageOf(totals.requests++);
  response.writeHead(200, { "content-type": "text/event-stream" });
  response.write(
    event({ type: "message_start", message: { usage: { input_tokens: usage.input, output_tokens: 1 } } }),
  );
  return () => {
    totals.input += usage.input;
    totals.output += usage.output;
    const last = {
      type: "message_delta",
      delta: { stop_reason: "end_turn" },
      usage: { output_tokens: usage.output },
    };
    response.end(event(last) + event({ type: "message_stop" }));
  };
}

function flood(response, bytes) {
  const end = start(response);
  let left = bytes;
  const more = () => {
    while (left > 0) {
      left -= piece.length;
      if (response.write(piece)) continue;
      response.once("drain", more);
      return;
    }
    end();
  };
  more();
}

function trickle(response, untilMs) {
  const end = start(response);
  const timer = setInterval(() => {
    response.write(small);
    if (Date.now() < untilMs) return;
    clearInterval(timer);
    end();
  }, 20);
  response.on("close", () => clearInterval(timer));
}

const server = createServer((request, response) => {
  if (request.url === "/totals") {
    response.end(JSON.stringify(totals));
    return;
  }
  const chunks = [];
  request.on("data", (chunk) => chunks.push(chunk));
  request.on("end", () => {
    const { model } = JSON.parse(Buffer.concat(chunks).toString());
    const [kind, amount] = model.split("-");
    if (kind === "flood") flood(response, Number(amount));
    else trickle(response, Date.now() + Number(amount));
  });
});
server.keepAliveTimeout = 60_000;
server.listen(0, "127.0.0.1");
await once(server, "listening");
process.stdout.write(`${server.address().port}\n`);
