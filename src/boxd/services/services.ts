import type { BoxdConfig, ServiceStatus } from "../../contract/link/messages.ts";
import { AgentBoxError } from "../../base/errors.ts";
import type { ServiceSpec } from "../../contract/box.ts";
import { Service } from "./service.ts";

/** The services of a box, each started when those it comes after are ready. */
export class Services {
  readonly #services = new Map<string, Service>();
  readonly #onChange: (service: Service) => void;
  readonly #stuck: ReadonlySet<string>;
  #isStopping = false;

  constructor(config: BoxdConfig, onChange: (service: Service) => void) {
    this.#onChange = onChange;
    this.#stuck = findStuck(config.services);
    for (const spec of config.services) {
      this.#services.set(spec.name, new Service(spec, config, (service) => this.#changed(service)));
    }
  }

  start(): void {
    const stuck = findStuck([...this.#services.values()].map((service) => service.spec));
    for (const name of stuck)
      this.#services.get(name)!.fail("It waits for itself or for a service that is not there.");
    this.#advance();
  }

  get(name: string): Service {
    const service = this.#services.get(name);
    if (!service) throw new AgentBoxError("session.not_found", `The box has no service ${name}.`);
    return service;
  }

  get statuses(): ServiceStatus[] {
    return [...this.#services.values()].map((service) => service.status);
  }

  get running(): Service[] {
    return [...this.#services.values()].filter((service) => service.isRunning);
  }

  /** Asks a service to end once nothing that came after it runs any more; call again after each end. */
  stopNext(): void {
    this.#isStopping = true;
    for (const service of this.#services.values()) {
      const isNeeded = this.running.some((other) => other.spec.after.includes(service.spec.name));
      if (!isNeeded) service.stop();
    }
  }

  #changed(service: Service): void {
    this.#onChange(service);
    if (this.#isStopping) {
      if (!service.isRunning) this.stopNext();
    } else {
      this.#advance();
    }
  }

  #advance(): void {
    for (const service of this.#services.values()) {
      if (service.state !== "waiting" || this.#isStopping) continue;
      if (this.#stuck.has(service.spec.name)) {
        service.fail("It waits for itself or for a service that is not there.");
        continue;
      }
      const needed = service.spec.after.map((name) => this.#services.get(name)!);
      const failed = needed.find((other) => other.state === "failed");
      if (failed) service.fail(`${failed.spec.name}, which it comes after, has failed.`);
      else if (needed.every((other) => other.isSatisfied)) void service.start();
    }
  }
}

/** Services that could never start: part of a cycle, or after one that does not exist. */
function findStuck(specs: readonly ServiceSpec[]): Set<string> {
  const startable = new Set<string>();
  for (let before = -1; before !== startable.size; ) {
    before = startable.size;
    for (const { name, after } of specs)
      if (after.every((needed) => startable.has(needed))) startable.add(name);
  }
  return new Set(specs.map(({ name }) => name).filter((name) => !startable.has(name)));
}
