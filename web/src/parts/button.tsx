import type { ComponentProps } from "react";
import { Icon, type IconName } from "./icon.tsx";

export interface ButtonProps extends ComponentProps<"button"> {
  kind?: "primary" | "danger" | "quiet" | undefined;
  isBusy?: boolean | undefined;
}

export function Button({ kind, isBusy = false, className = "", disabled, ...rest }: ButtonProps) {
  return (
    <button
      type="button"
      className={`parts-button ${kind ? `parts-button-${kind}` : ""} ${className}`}
      disabled={disabled === true || isBusy}
      aria-busy={isBusy}
      {...rest}
    />
  );
}

export function IconButton({
  label,
  icon,
  className = "",
  ...rest
}: ButtonProps & { label: string; icon: IconName }) {
  return (
    <Button
      kind="quiet"
      aria-label={label}
      title={label}
      {...rest}
      className={`parts-button-icon ${className}`}
    >
      <Icon name={icon} />
    </Button>
  );
}
