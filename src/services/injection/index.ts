/** Secrets in the requests of boxes. It opens no connection: the gate asks it about heads and pipes bodies through it. */
import type { Injection } from "../../ports/injection.ts";
import { GateInjection, type InjectionOptions } from "./injection.ts";

export const openInjection = (options: InjectionOptions): Injection => new GateInjection(options);
