import type { ReactNode } from "react";
import { api, dataOf } from "../api/client.js";
import { useLive } from "../api/use-live.js";
import { Refused, Skeleton } from "../parts/Notice.js";
import { PageTabs } from "../parts/PageHead.js";
import { addressOf } from "../place.js";
import type { ServerSettings } from "../words/notifications.js";
import { keptWords, limitWords } from "../words/settings.js";
import { exactTime } from "../words/times.js";
import "../styles/clocks.css";
import "../styles/stats.css";

/** Shows the server's settings. They are changed in their file, which is read when the server starts. */
export function Settings(): ReactNode {
  const { data, problem } = useLive(
    "settings",
    () => dataOf(api.GET("/api/v1/settings")),
    () => false,
  );
  return (
    <div className="page listing">
      <PageTabs of="workers" current="settings" />
      {data === null && problem === null && <Skeleton />}
      {problem !== null && <Refused problem={problem} />}
      {data !== null && <Table settings={data} />}
      {data !== null && <Servers servers={data.servers} />}
    </div>
  );
}

function Table({ settings }: { readonly settings: ServerSettings }): ReactNode {
  const { channels, notify, breakers, clusters, limits, retention } = settings;
  return (
    <section className="panel" aria-label="Settings">
      <header>
        <h2>Settings</h2>
        <span className="small dim">
          from <code className="mono-s">daruma.config.yaml</code>, read when the server starts
        </span>
      </header>
      <table className="t cards airy">
        <tbody>
          <Row name="Channels">
            {channels.length === 0 ? (
              "None."
            ) : (
              <a className="link" href={addressOf(["notifications"])}>
                {channels.map(({ name }) => name).join(", ")}
              </a>
            )}
          </Row>
          <Row name="Rules for notifications">
            {notify.length === 0 ? "None for all workflows." : notify.length}
          </Row>
          <Row name="Shared breakers">{breakers.length === 0 ? "None." : breakers.join(", ")}</Row>
          <Row name="Clusters">
            {clusters.length === 0
              ? "None."
              : clusters.map(({ name, type, tags }) => (
                  <div key={name}>
                    {name} ({type}
                    {tags.length === 0 ? "" : `, for steps that ask for ${tags.join(", ")}`})
                  </div>
                ))}
          </Row>
          <Row name="Limits">{limitWords(limits)}</Row>
          <Row name="Runs">{keptWords(retention.runs)}</Row>
          <Row name="Logs">{keptWords(retention.logs)}</Row>
          <Row name="Artifacts">{keptWords(retention.artifacts)}</Row>
        </tbody>
      </table>
    </section>
  );
}

function Row({ name, children }: { readonly name: string; readonly children: ReactNode }): ReactNode {
  return (
    <tr>
      <th scope="row">{name}</th>
      <td className="wide wrap-text">{children}</td>
    </tr>
  );
}

function Servers({ servers }: { readonly servers: ServerSettings["servers"] }): ReactNode {
  return (
    <section className="panel" aria-label="Servers">
      <header>
        <h2>Servers</h2>
        <span className="small dim">of this store, heard of in the last minutes</span>
      </header>
      <table className="t cards airy">
        <tbody>
          {servers.map(({ host, pid, url, seen_at }) => (
            <tr key={`${host} ${pid}`}>
              <td className="mono-s strong">{host}</td>
              <td className="mono-s">{url}</td>
              <td className="small dim">process {pid}</td>
              <td className="wide small dim">seen {exactTime(seen_at)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
