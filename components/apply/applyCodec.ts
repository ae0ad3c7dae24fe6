import { codecOf, flag, named } from "../url/addressFields";

/** How a difference is displayed. */
export const applyCodec = codecOf({
  /** Unchanged lines, files and engines are left out. */
  hideUnchanged: named("unchanged", flag("shown", false)),
  /** The generated files are open. */
  manifests: flag("open"),
});
