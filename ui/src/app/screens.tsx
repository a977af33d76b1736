/** Every screen: its addresses, and where it stands in the navigation. Loaded when first shown. */
import {
  IconFlask,
  IconInbox,
  IconMailOff,
  IconPlayerPlay,
  IconSettings,
  IconWritingSign,
} from "@tabler/icons-react";
import { type ComponentType, lazy } from "react";

import type { Right } from "../api/schema.gen";
import type { texts } from "./texts";

export const SCREENS: readonly { path: string; element: ComponentType }[] = [
  { path: "/runs", element: lazy(() => import("../screens/runs")) },
  { path: "/plans/:plan", element: lazy(() => import("../screens/plan")) },
  { path: "/tasks/:task", element: lazy(() => import("../screens/task")) },
  { path: "/inbox", element: lazy(() => import("../screens/inbox")) },
  { path: "/inbox/:question", element: lazy(() => import("../screens/inbox")) },
  { path: "/dead-letters", element: lazy(() => import("../screens/dead-letters")) },
  { path: "/contracts", element: lazy(() => import("../screens/contracts")) },
  { path: "/contracts/:contract", element: lazy(() => import("../screens/contracts")) },
  { path: "/research", element: lazy(() => import("../screens/research")) },
  { path: "/settings", element: lazy(() => import("../screens/settings")) },
];

export interface Place {
  readonly path: string;
  readonly name: keyof typeof texts;
  readonly key: string; // after g
  readonly icon: typeof IconInbox;
  readonly right: Right;
}

export const PLACES: readonly Place[] = [
  { path: "/runs", name: "runs", key: "r", icon: IconPlayerPlay, right: "read" },
  { path: "/inbox", name: "inbox", key: "i", icon: IconInbox, right: "read" },
  { path: "/dead-letters", name: "deadLetters", key: "d", icon: IconMailOff, right: "read" },
  { path: "/contracts", name: "contracts", key: "c", icon: IconWritingSign, right: "check" },
  { path: "/research", name: "research", key: "e", icon: IconFlask, right: "read" },
  { path: "/settings", name: "settings", key: "s", icon: IconSettings, right: "check" },
];
