import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { listenToKeys } from "../keys/use-keys.js";
import { applyTheme } from "../parts/appearance.js";
import { Report } from "./Report.js";
import { readReport } from "./report-data.js";
import "../styles/tokens.css";
import "../styles/base.css";
import "../styles/controls.css";
import "../styles/marks.css";
import "../styles/panels.css";
import "../styles/run.css";
import "../styles/step.css";
import "../styles/widths.css";
import "../styles/page.css";
import "../styles/runpage.css";
import "../styles/report.css";

applyTheme();
listenToKeys();
createRoot(document.getElementById("page")!).render(
  <StrictMode>
    <Report data={readReport()} />
  </StrictMode>,
);
