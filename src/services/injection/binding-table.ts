/** The secrets of each box, as they are in force: where they are bound, and what stands for them in the box. */
import type { SecretBinding } from "../../contract/secret/binding.ts";
import type { GateBox } from "../../ports/gate.ts";
import type { BoundDestination } from "./bound-destination.ts";
import { Marks } from "./marks.ts";
import { placeholderOf } from "./placeholder.ts";

export interface BoxBindings {
  readonly incarnation: string;
  readonly destinations: readonly BoundDestination[];
  readonly marks: Marks;
}

export class BindingTable {
  readonly #boxes = new Map<string, BoxBindings>();

  set(box: GateBox, bindings: readonly SecretBinding[]): void {
    const destinations = bindings.flatMap((binding) => destinationsOf(box, binding));
    if (destinations.length === 0) return void this.#boxes.delete(box.name);
    const marks = destinations.flatMap(({ binding: { secret }, placeholder }) =>
      placeholder.marks.map((mark) => ({ mark, secret })),
    );
    this.#boxes.set(box.name, { incarnation: box.incarnation, destinations, marks: new Marks(marks) });
  }

  drop(box: string): void {
    this.#boxes.delete(box);
  }

  /** SECURITY: a later box of the same name has no part in what was bound for an earlier one. */
  find({ name, incarnation }: GateBox): BoxBindings | undefined {
    const found = this.#boxes.get(name);
    return found?.incarnation === incarnation ? found : undefined;
  }
}

function destinationsOf(box: GateBox, binding: SecretBinding): BoundDestination[] {
  if (binding.use.kind !== "inject") return [];
  const placeholder = placeholderOf(box, binding);
  return binding.use.destinations.map((destination) => ({ binding, destination, placeholder }));
}
