// The machine's parameters, as the machine file gives them, with where each number comes from.

import { el } from "./dom";
import { clean } from "./format";
import { Tab } from "./tabs";

export const machineTab: Tab = {
    id: "machine",
    title: "Machine",
    available: (model) => (model.data.machine?.length ?? 0) > 0,
    create({ model }) {
        const sections = model.data.machine!.map((section) =>
            el("section", { class: "card" }, el("h2", {}, clean(section.name, 80)),
                el("table", { class: "plain parameters" }, el("caption", { class: "hidden" }, clean(section.name, 80)),
                    el("tbody", {}, ...section.rows.map((row) =>
                        el("tr", {}, el("th", { scope: "row", class: "code" }, clean(row.name, 80)), el("td", { class: "code" }, clean(row.value, 200)),
                            el("td", { class: "dim" }, clean(row.note ?? "", 300))))))));
        return { element: el("div", { class: "columns" }, ...sections), show: () => undefined };
    },
};
