// Runs in the browser before any page.
import { config } from "zod/v4/core";

// The content security policy forbids `eval`, which zod would try for faster parsers, and browsers would report.
config({ jitless: true });
