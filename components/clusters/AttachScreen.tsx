import { useHindrance } from "../api/useMe";
import { buttonClass } from "../ui/Button";
import { lockedStatus } from "../ui/lockedStatus";
import { PanelState } from "../ui/PanelState";
import { AttachConnection } from "./AttachConnection";
import { AttachEndpoints } from "./AttachEndpoints";
import { type AttachKind, attachKinds } from "./clustersCodec";

const kinds: Readonly<Record<AttachKind, { readonly name: string; readonly hint: string }>> = {
  endpoints: { name: "Engines that run", hint: "Paste their URLs. Plans change routing only." },
  processes: { name: "This host", hint: "Weir starts and stops engines here." },
  kubernetes: { name: "Kubernetes", hint: "Weir applies Deployments and LeaderWorkerSets." },
  ray: { name: "Ray Serve", hint: "Weir adds applications to Ray Serve." },
};

/** How a cluster is attached, by its kind. Running engines come first: most users start with them. */
export function AttachScreen(props: {
  readonly kind: AttachKind;
  readonly onKind: (kind: AttachKind) => void;
  readonly onDescribe: () => void;
}) {
  const { kind, onKind } = props;
  const hindrance = useHindrance("attach");
  return (
    <div className="flex flex-col gap-4">
      <nav aria-label="Ways to attach" className="flex flex-wrap items-center gap-2">
        {attachKinds.map((each) => (
          <button
            key={each}
            type="button"
            title={kinds[each].hint}
            aria-current={each === kind ? "true" : undefined}
            className={`${buttonClass(each === kind ? "plain" : "quiet")} ${each === kind ? "border-accent text-accent" : ""}`}
            onClick={() => onKind(each)}
          >
            {kinds[each].name}
          </button>
        ))}
        <button type="button" className="ml-auto text-sm text-accent underline underline-offset-2" onClick={props.onDescribe}>
          Describe hardware you do not have yet
        </button>
      </nav>
      <p className="text-sm text-ink-2">{kinds[kind].hint}</p>
      <PanelState status={hindrance === null ? { kind: "ready" } : lockedStatus(hindrance)}>
        {() => (kind === "endpoints" ? <AttachEndpoints /> : <AttachConnection key={kind} kind={kind} />)}
      </PanelState>
    </div>
  );
}
