import { buttonClass } from "../ui/Button";
import { type LabelKind, labelChoices } from "./labelChoices";

const Key = ({ children }: { readonly children: string }) => (
  <span className="rounded border bg-sunken px-1 font-mono text-xs text-ink-2" aria-hidden="true">
    {children}
  </span>
);

/** The possible labels, each with its key; always visible, however long the texts are. */
export function ChoiceBar(props: {
  readonly kind: LabelKind;
  readonly disabled: boolean;
  readonly canUndo: boolean;
  readonly onGive: (quality: number) => void;
  readonly onSkip: () => void;
  readonly onUndo: () => void;
}) {
  const { kind } = props;
  return (
    <div className="sticky bottom-0 z-10 -mx-4 flex flex-wrap items-center gap-2 border-t bg-surface px-4 py-3">
      {/* biome-ignore lint/a11y/useSemanticElements: buttons that act at once are no fields of a form. */}
      <div
        role="group"
        aria-label="Label"
        className={`grid gap-2 max-sm:w-full ${kind === "one" ? "grid-cols-5 max-sm:gap-1" : "grid-cols-3"}`}
      >
        {labelChoices[kind].map(({ quality, word, key }) => (
          <button
            key={quality}
            type="button"
            aria-keyshortcuts={key.aria}
            disabled={props.disabled}
            onClick={() => props.onGive(quality)}
            className={`${buttonClass("plain")} h-auto! min-h-12 flex-col gap-0.5! px-2! py-1.5 whitespace-normal! sm:min-w-24`}
          >
            <span>{word}</span>
            <span className="flex items-center gap-1 text-xs font-normal text-ink-3">
              {kind === "one" && <span>{quality}</span>}
              <Key>{key.text}</Key>
            </span>
          </button>
        ))}
      </div>
      <button type="button" aria-keyshortcuts="s" disabled={props.disabled} onClick={props.onSkip} className={buttonClass("quiet")}>
        Cannot tell, skip <Key>s</Key>
      </button>
      <button
        type="button"
        aria-keyshortcuts="u"
        disabled={!props.canUndo}
        onClick={props.onUndo}
        className={`${buttonClass("quiet")} sm:ml-auto`}
      >
        Undo the last label <Key>u</Key>
      </button>
      <span className="text-xs text-ink-3 max-sm:hidden">
        <Key>?</Key> shows all keys
      </span>
    </div>
  );
}
