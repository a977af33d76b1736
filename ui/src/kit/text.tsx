/** Text that others wrote: shown as text in its own direction, long names cut. */
import type { CSSProperties, ReactNode } from "react";

/** A text of unknown language and length; `oneLine` cuts it and keeps the whole in its title. */
export function AnyText({
  children,
  oneLine = false,
  style,
}: {
  children: string;
  oneLine?: boolean;
  style?: CSSProperties;
}) {
  const shown = visible(children);
  return (
    <span
      dir="auto"
      className={oneLine ? "any-text one-line" : "any-text"}
      title={oneLine ? shown : undefined}
      style={style}
    >
      {shown}
    </span>
  );
}

/** Control characters, which no font shows, as their pictures; direction marks cannot reach out. */
export function visible(text: string): string {
  return text.replace(
    /[\u0000-\u0008\u000b-\u001f\u007f\u202a-\u202e\u2066-\u2069]/g,
    (character) => {
      const code = character.charCodeAt(0);
      if (code < 0x20) return String.fromCharCode(0x2400 + code);
      return code === 0x7f ? "\u2421" : "\u2426";
    },
  );
}

export function Key({ children }: { children: ReactNode }) {
  return <kbd className="key">{children}</kbd>;
}

export function Dim({ children, size = "sm" }: { children: ReactNode; size?: "xs" | "sm" | "md" }) {
  return (
    <span style={{ color: "var(--text-dim)", fontSize: `var(--mantine-font-size-${size})` }}>
      {children}
    </span>
  );
}
