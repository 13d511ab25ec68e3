import { useState } from "react";
import { noticeKinds } from "../../../src/contract/notices.ts";
import { Button } from "../parts/button.tsx";
import { Switch } from "../parts/field.tsx";
import { chooseAll, chooseNotice, useNoticeChoice } from "./choice.ts";
import { noticeLabels } from "./notice-words.ts";

type Permission = NotificationPermission | "unsupported";
const permissionNow = (): Permission =>
  "Notification" in globalThis ? Notification.permission : "unsupported";

/** The browser is asked only when the button is pressed. */
export function NoticeSettings() {
  const choice = useNoticeChoice();
  const [permission, setPermission] = useState(permissionNow);
  const turnOn = async () => {
    const given = await Notification.requestPermission();
    setPermission(given);
    if (given === "granted") chooseAll();
  };
  if (permission === "unsupported") return <p className="quiet">This browser has no notifications.</p>;
  if (permission === "denied")
    return <p>This browser blocks notifications of this page. Its own settings can change that.</p>;
  if (permission === "default")
    return (
      <div>
        <Button onClick={() => void turnOn()}>Turn on notifications</Button>
      </div>
    );
  return (
    <div className="parts-stack">
      {noticeKinds.map((kind) => (
        <Switch
          key={kind}
          label={noticeLabels[kind]}
          checked={choice[kind]}
          onChange={({ target }) => chooseNotice(kind, target.checked)}
        />
      ))}
    </div>
  );
}
