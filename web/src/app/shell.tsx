/** The frame of every page: navigation, what waits for the person, and whether what is shown is true. */
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useRouterState } from "@tanstack/react-router";
import { type ReactNode, useState, useEffect } from "react";
import type { Scope } from "../../../src/contract/access/scope-names.ts";
import { useConnection } from "../api/live.ts";
import { useMay, useMe } from "../api/me.ts";
import { useNeeds } from "../inbox/needs.tsx";
import { Notices } from "../notices/notices.tsx";
import { IconButton } from "../parts/button.tsx";
import { Icon } from "../parts/icon.tsx";
import { Kbd } from "../parts/note.tsx";
import { KeyHelp } from "./key-help.tsx";
import { Palette } from "./palette.tsx";
import { type NavigationItem, navigation } from "./navigation.ts";
import { chooseTheme, useTheme } from "./theme.ts";
import { boxesQuery, queries } from "../api/queries.ts";

const lookEveryMs = 30;
const mostMs = 2_500;

const isOnItsWay = (): boolean =>
  document.querySelector(".app-main .parts-skeleton") !== null ||
  queries.isFetching({ predicate: ({ state }) => state.data === undefined }) > 0;

/**
 * Whether the first page is all there. Until then it is laid out and not shown, so that nothing moves under the user's
 * finger while its answers come in one by one; slow parts are shown without waiting any more.
 */
function useArrival(onArrival: () => void): boolean {
  const [isArrived, setArrived] = useState(false);
  useEffect(() => {
    const startedAt = performance.now();
    // One look is not enough: what has just come may ask for more.
    let quietLooks = 0;
    const timer = setInterval(() => {
      quietLooks = isOnItsWay() ? 0 : quietLooks + 1;
      if (quietLooks < 3 && performance.now() - startedAt < mostMs) return;
      clearInterval(timer);
      setArrived(true);
      onArrival();
    }, lookEveryMs);
    return () => clearInterval(timer);
  }, []);
  return isArrived;
}

function NavigationLink({ item, needs, onGo }: { item: NavigationItem; needs: number; onGo: () => void }) {
  return (
    <Link
      to={item.to}
      className="app-link"
      activeOptions={{ exact: item.to === "/" }}
      activeProps={{ "aria-current": "page" }}
      onClick={onGo}
    >
      <Icon name={item.icon} />
      <span>{item.label}</span>
      {item.to === "/inbox" && needs > 0 ? (
        <span className="app-count" aria-label={`${needs} for you`}>
          {needs}
        </span>
      ) : null}
    </Link>
  );
}

function Navigation({ onGo }: { onGo: () => void }) {
  const { length: needs } = useNeeds().needs;
  const me = useMe();
  // The vault is the host's; no scope of a member includes it.
  const maySecrets = useMay("secrets") && me?.isAdmin === true;
  const allowed: Partial<Record<Scope, boolean>> = {
    work: useMay("work") && me?.kind !== "guest",
    secrets: maySecrets,
  };
  return (
    <nav className="app-nav" aria-label="Main">
      {navigation
        .filter(({ needs }) => needs === undefined || allowed[needs])
        .map((item) => (
          <NavigationLink key={item.to} item={item} needs={needs} onGo={onGo} />
        ))}
    </nav>
  );
}

/** On a phone, where the menu that has the number is closed. */
function NeedsLink() {
  const { length: needs } = useNeeds().needs;
  if (needs === 0) return null;
  return (
    <Link to="/inbox" className="app-needs" aria-label={`Inbox, ${needs} for you`}>
      <Icon name="inbox" />
      <span className="app-count">{needs}</span>
    </Link>
  );
}

/** Always there and of one height, so that a lost connection moves nothing. */
function ConnectionNote() {
  const connection = useConnection();
  const words = {
    live: "Live",
    connecting: "Connecting …",
    lost: "Connection lost. Trying again …",
  } as const;
  return (
    <output className={`app-connection app-connection-${connection}`}>
      <span className="parts-dot" aria-hidden="true" />
      {words[connection]}
    </output>
  );
}

/** A guest was given one box: its page is their first one, and a list with a single entry says nothing. */
function useGuestLanding(): void {
  const me = useMe();
  const isGuest = me?.kind === "guest";
  const { data: boxes } = useQuery({ ...boxesQuery, enabled: isGuest });
  const isAtStart = useRouterState({ select: ({ location }) => location.pathname === "/" });
  const navigate = useNavigate();
  const name = isGuest && boxes?.length === 1 ? boxes[0]?.name : undefined;
  useEffect(() => {
    if (name !== undefined && isAtStart) void navigate({ to: "/box/$name", params: { name }, replace: true });
  }, [name, isAtStart, navigate]);
}

export function Shell({ children, onArrival }: { children: ReactNode; onArrival: () => void }) {
  const [isMenuOpen, setMenuOpen] = useState(false);
  const [isPaletteOpen, setPaletteOpen] = useState(false);
  const isArrived = useArrival(onArrival);
  useGuestLanding();
  const theme = useTheme();
  const me = useMe();
  const next = theme === "dark" ? "light" : "dark";
  return (
    <div className="app">
      <a className="app-skip" href="#content">
        Skip to the content
      </a>
      <header className="app-bar">
        <IconButton
          label={isMenuOpen ? "Close the menu" : "Open the menu"}
          icon="menu"
          aria-expanded={isMenuOpen}
          onClick={() => setMenuOpen(!isMenuOpen)}
        />
        <Link to="/" className="app-brand">
          <img src="/icon.svg" alt="" width="22" height="22" />
          AgentBox
        </Link>
        <ConnectionNote />
        <span className="app-space" />
        <NeedsLink />
        <button type="button" className="app-find" onClick={() => setPaletteOpen(true)}>
          <Icon name="search" />
          <span className="app-find-text">Go to …</span>
          <Kbd>Ctrl K</Kbd>
        </button>
        <IconButton label={`Switch to ${next}`} icon="moon" onClick={() => chooseTheme(next)} />
        <span className="app-me quiet small">{me?.name ?? ""}</span>
      </header>
      <div className={`app-side ${isMenuOpen ? "app-side-open" : ""}`}>
        <Navigation onGo={() => setMenuOpen(false)} />
      </div>
      <main id="content" className={`app-main ${isArrived ? "" : "app-arriving"}`} tabIndex={-1}>
        {children}
      </main>
      <Palette isOpen={isPaletteOpen} setOpen={setPaletteOpen} />
      <KeyHelp />
      <Notices />
    </div>
  );
}
