import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from "prom-client";
import type { Using } from "../core/using.ts";

export interface Metrics {
  observeRequest(route: string, status: number, seconds: number): void;
  render(): Promise<string>;
}

/** Prometheus metrics of this daemon; the names are part of the contract with dashboards that graph them. */
export function openMetrics(core: Using<"live" | "onEvent" | "store">): Metrics {
  const registers = [new Registry()];
  collectDefaultMetrics({ register: registers[0]!, prefix: "agentbox_daemon_" });
  const boxes = new Gauge({
    name: "agentbox_boxes",
    help: "Boxes by phase.",
    labelNames: ["phase", "runtime"],
    registers,
    async collect() {
      this.reset();
      for (const box of await core.ports.store.listBoxes()) {
        this.inc({ phase: box.state.phase, runtime: box.spec.runtime });
      }
    },
  });
  const links = new Gauge({
    name: "agentbox_links_connected",
    help: "Boxes whose supervisor is connected.",
    registers,
    collect() {
      this.set([...core.live.values()].filter(({ link }) => link.isConnected).length);
    },
  });
  const events = new Counter({
    name: "agentbox_events_total",
    help: "Events by type.",
    labelNames: ["type"],
    registers,
  });
  core.onEvent((event) => events.inc({ type: event.type }));
  const requests = new Histogram({
    name: "agentbox_request_seconds",
    help: "Time to answer an API request.",
    labelNames: ["route", "status"],
    buckets: [0.001, 0.005, 0.02, 0.1, 0.5, 2, 10],
    registers,
  });
  return {
    observeRequest: (route, status, seconds) => requests.observe({ route, status }, seconds),
    render: async () => (boxes && links ? registers[0]!.metrics() : ""),
  };
}
