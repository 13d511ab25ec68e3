/** Servers below HTTP: an echo, and one that keeps every byte it was sent and answers like a web server. */
import { once } from "node:events";
import { createServer, type Socket } from "node:net";
import { arrived } from "./log.ts";

const listen = async (port: number, serve: (socket: Socket) => void): Promise<void> => {
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    socket.on("error", () => undefined);
    arrived({ kind: "tcp", address: (socket.localAddress ?? "").replace("::ffff:", ""), port });
    serve(socket);
  });
  server.listen(port, "::");
  await once(server, "listening");
};

export const serveEcho = (port: number): Promise<void> => listen(port, (socket) => void socket.pipe(socket));

/** Accepts, says nothing, notices connections only; for ports on which a leak would show, such as 853. */
export const serveSilence = (port: number): Promise<void> => listen(port, (socket) => void socket.resume());

export const serveRaw = (port: number): Promise<void> =>
  listen(port, (socket) => {
    // The bytes so far count already: a test need not wait for the end.
    const arrival = { kind: "raw" as const, text: "" };
    arrived(arrival);
    socket.on("data", (chunk) => {
      arrival.text += chunk.toString("latin1");
      if (socket.writable && arrival.text.includes("\r\n\r\n"))
        socket.end("HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 3\r\n\r\nraw");
    });
    socket.on("end", () => socket.end());
  });
