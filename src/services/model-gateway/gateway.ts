/** The gateway of ports/model-gateway.ts: knows the boxes, and gives each of their requests to a call or a socket. */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { SharedRate } from "../../base/rate.ts";
import type { ModelSpec } from "../../contract/model/api.ts";
import type { GateBox } from "../../ports/gate.ts";
import type { ModelGateway } from "../../ports/model-gateway.ts";
import { BoxModels } from "./box-models.ts";
import { type CallContext, ModelCall } from "./model-call.ts";
import { ModelSocket } from "./model-socket.ts";

/** A box without a registered policy may ask nothing. */
const noModels: ModelSpec = { provider: "", allow: [], aliases: {}, providers: [] };

export class HostModelGateway implements ModelGateway {
  readonly #context: CallContext;
  readonly #boxes = new Map<string, BoxModels>();
  readonly #rate: SharedRate;
  readonly #held = { bytes: 0 };

  constructor(context: CallContext) {
    this.#context = context;
    const { paceBytes, paceBurstBytes, paceAloneBytes, paceTogetherBytes } = context.limits;
    const own = { perSecond: paceBytes, burst: paceBurstBytes };
    this.#rate = new SharedRate({ own, alone: paceAloneBytes, together: paceTogetherBytes }, context.clock);
  }

  setBox(box: GateBox, spec: ModelSpec): void {
    const known = this.#boxes.get(box.name);
    if (known?.box.incarnation === box.incarnation) {
      known.spec = spec;
      return;
    }
    // The same name, but another box: nothing of the old one may go on.
    this.drop(box.name);
    this.#boxes.set(box.name, this.#make(box, spec));
  }

  drop(box: string): void {
    const known = this.#boxes.get(box);
    this.#boxes.delete(box);
    known?.end();
  }

  serve(box: GateBox, request: IncomingMessage, response: ServerResponse): void {
    request.on("error", () => undefined);
    response.on("error", () => undefined);
    void new ModelCall(this.#context, this.#find(box), request, response).run();
  }

  upgrade(box: GateBox, request: IncomingMessage, socket: Duplex, head: Buffer): void {
    socket.on("error", () => socket.destroy());
    void new ModelSocket(this.#context, this.#find(box), request, socket).run(head);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const box of this.#boxes.keys()) this.drop(box);
    this.#context.upstreams.close();
  }

  #find(box: GateBox): BoxModels {
    const known = this.#boxes.get(box.name);
    return known?.box.incarnation === box.incarnation ? known : this.#make(box, noModels);
  }

  #make(box: GateBox, spec: ModelSpec): BoxModels {
    const { listener, clock, limits } = this.#context;
    return new BoxModels(box, spec, { listener, clock, limits, held: this.#held, share: this.#rate.open() });
  }
}
