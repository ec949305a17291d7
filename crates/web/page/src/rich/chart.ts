//! Charts of Plotly and Vega-Lite as marks that the page draws. Pure.
//!
//! A chart is drawn whole or not at all: whatever asks for another mark, axis or transformation gives
//! nothing, and its values are shown instead. Nothing of it is run.

import { type Chart, fields } from "./figure";
import { ofPlotly } from "./plotly";
import { ofVegaLite } from "./vega";

export const PLOTLY = "application/vnd.plotly.v1+json";

/** The chart that a form of a result is. */
export function chartOf(mime: string, text: string): Chart | null {
  const isVegaLite = /^application\/vnd\.vegalite\.v\d{1,3}(?:\.\d{1,3}){0,3}\+json$/.test(mime);
  if (mime !== PLOTLY && !isVegaLite) return null;
  try {
    const value = fields(JSON.parse(text) as unknown);
    return isVegaLite ? ofVegaLite(value) : ofPlotly(value);
  } catch {
    return null;
  }
}
