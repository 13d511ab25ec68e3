/** Line drawings on a grid of 24, of our own. */
const paths = {
  boxes: "M12 3 20 7.5v9L12 21l-8-4.5v-9zM12 12l8-4.5M12 12 4 7.5M12 12v9",
  plus: "M12 5v14M5 12h14",
  inbox: "M4 13 6.5 5h11L20 13v6H4zM4 13h5l1 3h4l1-3h5",
  review: "M5 4h9l5 5v11H5zM14 4v5h5M9 14l2 2 4-4",
  terminal: "M4 5h16v14H4zM8 10l3 2.5L8 15M13 15h4",
  cost: "M12 3v18M16.5 7.5C15.5 6 8 5 8 9s8 2 8 6.2c0 3.8-7.5 3-9 .8",
  vault: "M5 11h14v9H5zM8 11V8a4 4 0 0 1 8 0v3M12 14.5v2",
  settings:
    "M12 9a3 3 0 1 0 0 6 3 3 0 0 0 0-6zM12 3v3M12 18v3M3 12h3M18 12h3M5.6 5.6l2.1 2.1M16.3 16.3l2.1 2.1M5.6 18.4l2.1-2.1M16.3 7.7l2.1-2.1",
  search: "M10.5 4a6.5 6.5 0 1 0 0 13 6.5 6.5 0 0 0 0-13zM15.5 15.5 20 20",
  close: "M6 6l12 12M18 6 6 18",
  menu: "M4 7h16M4 12h16M4 17h16",
  more: "M5 12h.01M12 12h.01M19 12h.01",
  play: "M8 5v14l11-7z",
  stop: "M6 6h12v12H6z",
  pause: "M8 5v14M16 5v14",
  restart: "M5 12a7 7 0 1 0 2.2-5.1M5 4v4h4",
  trash: "M5 7h14M10 7V4h4v3M7 7l1 13h8l1-13",
  copy: "M9 9h11v11H9zM5 15H4V4h11v1",
  check: "M5 12.5 10 17 19 7",
  warning: "M12 4 21 19H3zM12 10v4M12 16.5v.5",
  file: "M6 3h8l4 4v14H6zM14 3v4h4",
  folder: "M3 6h6l2 2h10v11H3z",
  link: "M10 14a4 4 0 0 0 6 0l3-3a4 4 0 0 0-6-6l-1 1M14 10a4 4 0 0 0-6 0l-3 3a4 4 0 0 0 6 6l1-1",
  globe: "M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18zM3 12h18M12 3c3 3 3 15 0 18M12 3c-3 3-3 15 0 18",
  bell: "M6 16V11a6 6 0 0 1 12 0v5l2 2H4zM10 21h4",
  grid: "M4 4h7v7H4zM13 4h7v7h-7zM4 13h7v7H4zM13 13h7v7h-7z",
  list: "M8 6h12M8 12h12M8 18h12M4 6h.01M4 12h.01M4 18h.01",
  moon: "M19 14a8 8 0 1 1-9-10 6 6 0 0 0 9 10z",
  chevron: "M9 6l6 6-6 6",
  queue: "M4 6h16M4 12h10M4 18h6M18 13v6M15 16l3 3 3-3",
  up: "M12 19V5M6 11l6-6 6 6",
  down: "M12 5v14M6 13l6 6 6-6",
  race: "M5 21V4M5 5h13l-3 4 3 4H5",
  share:
    "M16 6a2.5 2.5 0 1 0 5 0 2.5 2.5 0 0 0-5 0zM3 12a2.5 2.5 0 1 0 5 0 2.5 2.5 0 0 0-5 0zM16 18a2.5 2.5 0 1 0 5 0 2.5 2.5 0 0 0-5 0zM8 11l8-4M8 13l8 4",
  send: "M4 12 20 4l-5 16-3.5-6.5z",
  download: "M12 4v11M7 11l5 5 5-5M5 20h14",
  upload: "M12 16V5M7 9l5-5 5 5M5 20h14",
} as const;

export type IconName = keyof typeof paths;

export function Icon({ name }: { name: IconName }) {
  return (
    <svg
      className="parts-icon"
      viewBox="0 0 24 24"
      fill="none"
      stroke="currentColor"
      strokeWidth="1.8"
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
    >
      <path d={paths[name]} />
    </svg>
  );
}
