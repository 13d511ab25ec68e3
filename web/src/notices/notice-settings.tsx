import { useState } from "react";
import { Button } from "../parts/button.tsx";
import { Switch } from "../parts/field.tsx";
import { chooseNotices, useNoticeChoice } from "./choice.ts";

type Permission = NotificationPermission | "unsupported";
const permissionNow = (): Permission =>
  "Notification" in globalThis ? Notification.permission : "unsupported";

/** The browser is asked only when somebody presses the button. */
export function NoticeSettings() {
  const choice = useNoticeChoice();
  const [permission, setPermission] = useState(permissionNow);
  const turnOn = async () => {
    const given = await Notification.requestPermission();
    setPermission(given);
    if (given === "granted") chooseNotices({ "needs-you": true, done: true });
  };
  if (permission === "unsupported") return <p className="quiet">This browser has no notifications.</p>;
  if (permission === "denied")
    return <p>This browser does not let this page notify you. Its own settings can change that.</p>;
  if (permission === "default")
    return (
      <div>
        <Button onClick={() => void turnOn()}>Turn on notifications</Button>
      </div>
    );
  return (
    <div className="parts-stack">
      <Switch
        label="When a box needs you"
        checked={choice["needs-you"]}
        onChange={({ target }) => chooseNotices({ ...choice, "needs-you": target.checked })}
      />
      <Switch
        label="When an agent is done"
        checked={choice.done}
        onChange={({ target }) => chooseNotices({ ...choice, done: target.checked })}
      />
    </div>
  );
}
