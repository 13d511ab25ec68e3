/** The secrets of each box, as they are in force: where they are bound, and what stands for them in the box. */
import type { SecretBinding } from "../../contract/secret/binding.ts";
import type { GateBox } from "../../ports/gate.ts";
import type { BoundPlace } from "./bound-place.ts";
import { Marks } from "./marks.ts";
import { placeholderOf } from "./placeholder.ts";

export interface BoxBindings {
  readonly incarnation: string;
  readonly places: readonly BoundPlace[];
  readonly marks: Marks;
}

export class BindingTable {
  readonly #boxes = new Map<string, BoxBindings>();

  set(box: GateBox, bindings: readonly SecretBinding[]): void {
    const places = bindings.flatMap((binding) => placesOf(box, binding));
    if (places.length === 0) return void this.#boxes.delete(box.name);
    const marks = places.flatMap(({ binding: { secret }, placeholder }) =>
      placeholder.marks.map((mark) => ({ mark, secret })),
    );
    this.#boxes.set(box.name, { incarnation: box.incarnation, places, marks: new Marks(marks) });
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

function placesOf(box: GateBox, binding: SecretBinding): BoundPlace[] {
  if (binding.use.kind !== "inject") return [];
  const placeholder = placeholderOf(box, binding);
  return binding.use.places.map((place) => ({ binding, place, placeholder }));
}
