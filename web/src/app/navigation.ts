import type { Scope } from "../../../src/contract/access/scope-names.ts";
import type { IconName } from "../parts/icon.tsx";

export interface NavigationItem {
  readonly to:
    | "/"
    | "/new"
    | "/inbox"
    | "/review"
    | "/queue"
    | "/races"
    | "/terminals"
    | "/cost"
    | "/vault"
    | "/settings";
  readonly label: string;
  readonly icon: IconName;
  readonly needs?: Scope;
}

export const navigation: readonly NavigationItem[] = [
  { to: "/", label: "Boxes", icon: "boxes" },
  { to: "/inbox", label: "Inbox", icon: "inbox" },
  { to: "/review", label: "Review", icon: "review" },
  { to: "/terminals", label: "Terminals", icon: "terminal" },
  { to: "/new", label: "New box", icon: "plus", needs: "work" },
  { to: "/queue", label: "Queue", icon: "queue", needs: "work" },
  { to: "/races", label: "Races", icon: "race" },
  { to: "/cost", label: "Cost", icon: "cost" },
  { to: "/vault", label: "Vault", icon: "vault", needs: "secrets" },
  { to: "/settings", label: "Settings", icon: "settings" },
];
