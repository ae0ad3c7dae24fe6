// Runs in the browser before any page.
import { config } from "zod/v4/core";

// The content security policy forbids `eval`, which zod would try for faster parsers, and browsers would report.
config({ jitless: true });

// Dialogs and menus write a style element that keeps the page from scrolling. It needs the nonce of the page, which they read from here.
Object.assign(globalThis, { __webpack_nonce__: document.querySelector<HTMLScriptElement>("script[nonce]")?.nonce });
