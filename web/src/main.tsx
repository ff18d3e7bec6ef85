import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { App } from "./App.js";
import { listenToKeys } from "./keys/use-keys.js";
import { applyTheme } from "./parts/appearance.js";
import "./styles/tokens.css";
import "./styles/base.css";
import "./styles/controls.css";
import "./styles/marks.css";
import "./styles/panels.css";
import "./styles/run.css";
import "./styles/step.css";
import "./styles/keys.css";
import "./styles/editor.css";
import "./styles/runs.css";
import "./styles/widths.css";
import "./styles/page.css";
import "./styles/runpage.css";
import "./styles/inbox.css";

applyTheme();
listenToKeys();
createRoot(document.getElementById("page")!).render(
  <StrictMode>
    <App />
  </StrictMode>,
);
