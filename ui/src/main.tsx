import "./mantine.css";
import "./style.css";

import { setNonce } from "get-nonce";
import { createRoot } from "react-dom/client";

import { App } from "./app/App";
import { firstLanguage } from "./i18n";

const meta = document.querySelector<HTMLMetaElement>("meta[name=style-nonce]")?.content ?? "";
const nonce = meta.startsWith("__") ? "" : meta; // a development server gives none
if (nonce) setNonce(nonce); // for styles that lock scrolling below a dialogue
document.documentElement.lang = firstLanguage();

const root = document.getElementById("root");
if (root) createRoot(root).render(<App nonce={nonce} />);
