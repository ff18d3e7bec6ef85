import { Fragment, type ReactNode, useEffect, useState, useSyncExternalStore } from "react";
import { durationText } from "../../../src/tell/words/duration-text.js";
import type { Who } from "../App.js";
import { signOut } from "../api/client.js";
import { stream } from "../api/stream.js";
import { Keys, KeysOverlay } from "../keys/KeysOverlay.js";
import { useKeys } from "../keys/use-keys.js";
import { addressOf, type Place } from "../place.js";
import { zone } from "../words/times.js";
import { switchTheme } from "./appearance.js";
import { Confirm } from "./Confirm.js";
import { ProductDoll } from "./Doll.js";
import { Icon, type IconName } from "./Icon.js";
import { Palette } from "./Palette.js";
import { StartRun } from "./StartLink.js";
import { useShownWorkflow } from "./trail.js";

/** A connection lost for a shorter time is not mentioned. */
const PATIENCE_MS = 5_000;
const SECOND_MS = 1_000;

/** How old the data is if the connection is lost; null if it is not. */
function useLost(): { readonly ageMs: number; readonly nextMs: number | null } | null {
  const { live, heardAt, nextTryAt, refused } = useSyncExternalStore(stream.watch, () => stream.state);
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    if (live) return;
    const timer = setInterval(() => setNow(Date.now()), SECOND_MS);
    return () => clearInterval(timer);
  }, [live]);
  const ageMs = Math.max(0, now - heardAt);
  if (live || refused || ageMs < PATIENCE_MS) return null;
  return {
    ageMs: wholeSeconds(ageMs),
    nextMs: nextTryAt === null ? null : wholeSeconds(Math.max(0, nextTryAt - now)),
  };
}

function wholeSeconds(ms: number): number {
  return Math.round(ms / SECOND_MS) * SECOND_MS;
}

function LiveDot(): ReactNode {
  const isLost = useLost() !== null;
  return <span className={isLost ? "livedot lost" : "livedot"}>{isLost ? "not connected" : "live"}</span>;
}

/** Says how old the data is while the connection is lost. The data stays on the page. */
function LostBanner(): ReactNode {
  const lost = useLost();
  if (lost === null) return null;
  return (
    <div className="banner warn lostbanner">
      <span role="status">
        <b>Not connected.</b> What you see is {durationText(lost.ageMs)} old.
      </span>
      <span className="dim">
        {lost.nextMs === null ? "Trying now" : `Next try in ${durationText(lost.nextMs)}`}
      </span>
      <button type="button" className="btn end" onClick={() => stream.tryNow()}>
        Try now
      </button>
    </div>
  );
}

/** The pages. `key`: goes there after `g`. `beside`: the page is reached from this one and is not in the rail. */
const PAGES: readonly {
  readonly path: string;
  readonly words: string;
  readonly icon: IconName;
  readonly key: string;
  readonly beside?: string;
}[] = [
  { path: "inbox", words: "Inbox", icon: "inbox", key: "i" },
  { path: "runs", words: "Runs", icon: "runs", key: "r" },
  { path: "workflows", words: "Workflows", icon: "workflows", key: "w" },
  { path: "schedules", words: "Schedules", icon: "workflows", key: "t", beside: "workflows" },
  { path: "statistics", words: "Statistics", icon: "statistics", key: "s" },
  { path: "workers", words: "Workers", icon: "workers", key: "k" },
  { path: "notifications", words: "Notifications", icon: "workers", key: "n", beside: "workers" },
  { path: "settings", words: "Settings", icon: "workers", key: "e", beside: "workers" },
];

interface ShellProps {
  readonly place: Place;
  readonly who: Who | null;
  readonly waiting: number;
  readonly mayAct: boolean;
  readonly children: ReactNode;
}

export function Shell({ place, who, waiting, mayAct, children }: ShellProps): ReactNode {
  const first = place.path[0] ?? "inbox";
  const current = PAGES.find(({ path }) => path === first)?.beside ?? first;
  const [showsKeys, setShowsKeys] = useState(false);
  const [showsPalette, setShowsPalette] = useState(false);
  useKeys("Everywhere", [
    { keys: "?", does: "all keys", run: () => setShowsKeys(true) },
    {
      keys: "mod+k",
      does: "go to a run, step or workflow",
      run: () => setShowsPalette(true),
      inFields: true,
    },
    ...PAGES.map(({ path, words, key }) => ({
      keys: `g ${key}`,
      does: words,
      run: () => {
        location.hash = addressOf([path]);
      },
    })),
  ]);
  const links = PAGES.filter(({ beside }) => beside === undefined).map(({ path, words, icon }) => (
    <a
      key={path}
      className="nav"
      href={addressOf([path])}
      aria-current={path === current ? "page" : undefined}
    >
      <Icon name={icon} />
      {words}
      {path === "inbox" && waiting > 0 && (
        <span className="count">
          {waiting}
          <span className="sr"> problems</span>
        </span>
      )}
    </a>
  ));
  return (
    <>
      <nav className="rail" aria-label="Main">
        <a className="logo" href={addressOf(["inbox"])} aria-label="Daruma, home">
          <ProductDoll />
        </a>
        {links}
        <span className="sp" />
        <button type="button" className="nav" onClick={() => setShowsKeys(true)}>
          <Icon name="keys" />
          Keys
        </button>
        <button type="button" className="nav" onClick={switchTheme}>
          <Icon name="theme" />
          Theme
        </button>
        <Clock />
        {who !== null && <SignedIn who={who} />}
      </nav>
      <div className="app">
        <header className="top">
          <Crumbs place={place} />
          <button type="button" className="find" onClick={() => setShowsPalette(true)}>
            <Icon name="find" small />
            <span>Go to run, step, workflow</span>
            <Keys keys="mod+k" />
          </button>
          <LiveDot />
          {first === "runs" && place.path[1] === undefined && mayAct && <StartRun />}
          <button type="button" className="btn icon only-s" aria-label="Light or dark" onClick={switchTheme}>
            <Icon name="theme" small />
          </button>
        </header>
        <main className="main">
          <LostBanner />
          {children}
        </main>
        <nav className="tabbar" aria-label="Pages">
          {links}
        </nav>
      </div>
      {showsPalette && <Palette pages={PAGES} onClose={() => setShowsPalette(false)} />}
      {showsKeys && <KeysOverlay onClose={() => setShowsKeys(false)} />}
    </>
  );
}

/** Switches between UTC, as in logs, and local time. */
function Clock(): ReactNode {
  const isLocal = zone.get() === "local";
  return (
    <button
      type="button"
      className="nav"
      title={`Times are ${isLocal ? "local" : "in UTC"}; click for ${isLocal ? "UTC" : "local time"}`}
      onClick={() => zone.choose(isLocal ? "UTC" : "local")}
    >
      <Icon name="clock" />
      {isLocal ? "Local" : "UTC"}
    </button>
  );
}

function SignedIn({ who }: { readonly who: Who }): ReactNode {
  const isLocal = who.name === "local";
  const [asks, setAsks] = useState(false);
  const leave = async (): Promise<void> => {
    await signOut();
    location.reload();
  };
  return (
    <>
      <button
        type="button"
        className="nav"
        title={
          isLocal ? "This server needs no token" : `Signed in with the token ${who.name}, role ${who.role}`
        }
        aria-disabled={isLocal}
        onClick={() => !isLocal && setAsks(true)}
      >
        <Icon name="key" />
        {who.role}
      </button>
      {asks && (
        <Confirm
          title={`Sign out ${who.name}?`}
          yes="Sign out"
          no="Stay signed in"
          danger={false}
          onYes={() => void leave()}
          onNo={() => setAsks(false)}
        >
          <p>This browser forgets the token. The token itself stays valid: `daruma token revoke` ends it.</p>
        </Confirm>
      )}
    </>
  );
}

/** Titles for addresses that end with an action on a workflow. */
const DONE_WITH: { readonly [last: string]: string | undefined } = { start: "Start a run" };

function Crumbs({ place: { path } }: { readonly place: Place }): ReactNode {
  const [first = "inbox", of, last] = path;
  const workflow = useShownWorkflow(first === "runs" ? Number(of) : Number.NaN);
  const way: { readonly words: string; readonly href: string; readonly look?: string }[] = [
    { words: first[0]!.toUpperCase() + first.slice(1), href: addressOf([first]) },
  ];
  if (of !== undefined && workflow !== null)
    way.push({ words: workflow, href: addressOf(["runs"], { workflow }), look: "hide-s" });
  if (of !== undefined)
    way.push({ words: first === "workflows" ? of : `#${of}`, href: addressOf([first, of]) });
  const step = first === "workflows" ? DONE_WITH[last ?? ""] : last;
  if (step !== undefined) way.push({ words: step, href: "", ...(first === "runs" ? { look: "mono" } : {}) });
  return (
    <div className="crumbs cut" title={way.map(({ words }) => words).join(" / ")}>
      {way.map(({ words, href, look = "" }, index) => (
        <Fragment key={`${href} ${words}`}>
          {index > 0 && <span className={`sep ${look === "hide-s" ? look : ""}`}>/</span>}
          {index === way.length - 1 ? (
            <h1 className={look}>{words}</h1>
          ) : (
            <a className={look} href={href}>
              {words}
            </a>
          )}
        </Fragment>
      ))}
    </div>
  );
}
