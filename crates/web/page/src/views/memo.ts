//! A view that is drawn again only when it must be.

import { Component, type ComponentChild, type ComponentType, h } from "preact";

export function memo<P extends object>(view: (props: P) => ComponentChild, isSame: (one: P, other: P) => boolean): ComponentType<P> {
  return class extends Component<P> {
    override shouldComponentUpdate(next: P): boolean {
      return !isSame(this.props, next);
    }

    override render(): ComponentChild {
      return h(view as ComponentType<P>, this.props as P & object);
    }
  };
}
