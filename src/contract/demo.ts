/**
 * The contract of the demo agent and its caller: the sample project and the report. Without zod; it runs in the box.
 */

/** One thing the demo agent tried that a box must not allow. */
export interface DemoAttempt {
  readonly name: string;
  readonly isRefused: boolean;
  /** The system's answer. */
  readonly evidence: string;
}

export interface DemoReport {
  readonly attempts: readonly DemoAttempt[];
  readonly isFixed: boolean;
  readonly commit: string | undefined;
  readonly ok: boolean;
}

const cart = `/** The price of everything in the cart, in cents. */
export function total(items) {
  let sum = 0;
  for (let i = 1; i < items.length; i++) {
    sum += items[i].price * items[i].count;
  }
  return sum;
}
`;

const cartTest = `import assert from "node:assert/strict";
import { total } from "./cart.mjs";

assert.equal(total([]), 0);
assert.equal(total([{ price: 250, count: 2 }, { price: 100, count: 1 }]), 600);
console.log("all tests pass");
`;

/** A small shop with one bug: the first thing in the cart is free. */
export const sampleProject = {
  files: {
    "README.md": "# corner-shop\n\nA cart that adds up. Run the test with: node cart.test.mjs\n",
    "cart.mjs": cart,
    "cart.test.mjs": cartTest,
  },
  buggyFile: "cart.mjs",
  testFile: "cart.test.mjs",
  bug: "let i = 1;",
  fix: "let i = 0;",
} as const;
