// Routes of actions: GET shows a form, POST performs its action once and records who asked for it.

import type { Context, Hono } from 'hono';
import { EtlError, asEtlError } from '../core/errors/errors.ts';
import { pipelinesOf } from '../worker/catalog.ts';
import type { Access } from './access.ts';
import type { PageAction, PageControl } from './options.ts';
import { html } from './parts/html.ts';
import type { View, ViewContext } from './parts/view.ts';
import { aboutSubject, findAction, pathPart, type Found, type Place } from './actions.ts';
import { createForms, refuseForeign, visitorOf } from './forms.ts';
import { runQuery } from '../db/client.ts';
import { storable, type Query } from '../db/sql.ts';
import type { RecordedAction } from '../ledger/history/actions.ts';
import type { SiteOptions } from '../worker/options.ts';
import { withBookkeeping } from '../worker/site.ts';

const actionsKept = 10_000;

interface Asked extends Pick<
  RecordedAction,
  'action' | 'kind' | 'subject' | 'person' | 'address' | 'visitor'
> {
  readonly form: string;
}

const insertAction = ({ form, action, kind, subject, person, address, visitor }: Asked): Query => ({
  text: `with forgotten as (
      delete from etl.audit where id <= (select max(id) from etl.audit) - ${actionsKept}
    )
    insert into etl.audit (form, action, kind, subject, person, address, visitor)
      values ($1, $2, $3, $4, $5, $6, $7) on conflict (form) do nothing returning id::float8 as id`,
  values: [form, action, kind, subject, person === null ? null : storable(person), address, visitor],
});

const endAction = (id: number, errorCode: string | null, detail: string): Query => ({
  text: 'update etl.audit set ended_at = clock_timestamp(), error_code = $2, detail = $3 where id = $1',
  values: [id, errorCode, storable(detail)],
});

/**
 * Records the action in etl.audit, before and after `act`; returns the record's id. Errors:
 * ETL_PAGE_FORM if the form was sent before; those of `act`.
 */
const audited = async (site: SiteOptions, asked: Asked, act: () => Promise<string>): Promise<number> => {
  const inserted = await withBookkeeping(site, (client) => runQuery(client, insertAction(asked)));
  const id: number | undefined = inserted.rows[0]?.id;
  if (id === undefined) throw new EtlError('ETL_PAGE_FORM', { problem: 'it was sent before' });
  const end = (errorCode: string | null, detail: string): Promise<unknown> =>
    withBookkeeping(site, (client) => runQuery(client, endAction(id, errorCode, detail)));
  try {
    await end(null, await act());
    return id;
  } catch (thrown) {
    const { code, message } = asEtlError(thrown);
    // The visitor must see the action's error, even if it cannot be recorded.
    await end(code, message).catch(() => undefined);
    throw thrown;
  }
};

/** Maximum number of actions at once, because each opens a few connections. */
const actionsMax = 3;

interface ControlOptions {
  readonly site: SiteOptions;
  readonly access: Access;
  readonly control: PageControl;
}

type Wanted = Omit<PageAction, 'user' | 'request'>;

export interface Control {
  readonly pipelines: () => Promise<readonly string[]>;
  /** Runs `act` if the host allows the action. Returns the id of its record in etl.audit. */
  readonly perform: (
    context: Context,
    wanted: Wanted,
    form: string,
    act: () => Promise<string>,
  ) => Promise<number>;
  readonly addTo: (app: Hono, base: string, open: Open) => void;
}

export type Open = (context: Context, make: (view: ViewContext) => Promise<View>) => Promise<Response>;

/** Returns null if the host's adapter does not provide the address in `env`. */
const addressOf = ({ env }: Context): string | null => {
  const { incoming } = (env ?? {}) as {
    readonly incoming?: { readonly socket?: { readonly remoteAddress?: string } };
  };
  return incoming?.socket?.remoteAddress ?? null;
};

interface Form {
  readonly path: string;
  readonly base: string;
  readonly key: string;
}

const formView = ({ action, subject }: Found, about: readonly string[], { path, base, key }: Form): View => {
  const isPipeline = action.kind === 'pipeline';
  const back = isPipeline ? '/actions' : path.slice(0, path.lastIndexOf('/'));
  const body = html`${about.map((text, index) => html`<p class="${index > 0 ? 'note' : ''}">${text}</p>`)}
    <div class="actions">
      <form method="post" action="${base}${path}">
        <input type="hidden" name="key" value="${key}" />
        <button>${action.button}</button>
      </form>
      <a class="button" href="${base}${back}">Back</a>
    </div>`;
  return {
    title: action.title(subject),
    place: isPipeline ? 'actions' : pathPart[action.kind],
    freshMs: 0,
    sections: [{ id: 'form', body }],
  };
};

/** `addGuards` has already limited the length. Errors: ETL_PAGE_FORM. */
const readForm = async (request: Request): Promise<URLSearchParams> => {
  const type = request.headers.get('content-type') ?? '';
  if (/^application\/x-www-form-urlencoded\b/i.test(type)) return new URLSearchParams(await request.text());
  throw new EtlError('ETL_PAGE_FORM', { problem: 'it is not a form of this page' });
};

const createLimit = () => {
  let busy = 0;
  return async <T>(act: () => Promise<T>): Promise<T> => {
    if (busy >= actionsMax) throw new EtlError('ETL_PAGE_BUSY');
    busy += 1;
    try {
      return await act();
    } finally {
      busy -= 1;
    }
  };
};

export const createControl = ({ site, access, control }: ControlOptions): Control => {
  const forms = createForms(access);
  const limited = createLimit();
  const place: Place = { site, folder: control.pipelines };

  const perform: Control['perform'] = async (context, wanted, form, act) => {
    const request = context.req.raw;
    const user = await control.user?.(request);
    const visitor = visitorOf(access.sessionOf(request) ?? '');
    const allow = async (): Promise<string> => {
      if ((await control.allow?.({ ...wanted, user, request })) === false)
        throw new EtlError('ETL_PAGE_FORBIDDEN', { ...wanted, visitor: user ?? `visitor ${visitor}` });
      return act();
    };
    const asked = { ...wanted, form, visitor, person: user ?? null, address: addressOf(context) };
    return limited(() => audited(site, asked, allow));
  };

  const show = async (context: Context, found: Found, base: string, open: Open): Promise<Response> => {
    const { path, raw } = context.req;
    let session = access.sessionOf(raw);
    if (session === undefined) {
      // If the page has no token, a visitor has no session before the first form.
      const begun = access.begin(raw);
      context.header('set-cookie', begun.cookie);
      ({ session } = begun);
    }
    const key = forms.keyOf(session, path);
    return open(context, async (view) => {
      const about = await aboutSubject(found, view, place);
      return formView(found, about, { path, base, key });
    });
  };

  const take = async (context: Context, { action, subject }: Found, base: string): Promise<Response> => {
    const { path, raw } = context.req;
    refuseForeign(raw);
    const form = forms.check((await readForm(raw)).get('key'), access.sessionOf(raw), path);
    const wanted = { action: action.name, kind: action.kind, subject };
    const id = await perform(context, wanted, form, () => action.act(subject, place));
    return context.redirect(`${base}/actions/${id}`, 303);
  };

  return {
    pipelines: async () => (control.pipelines === undefined ? [] : pipelinesOf(control.pipelines)),
    perform,
    addTo: (app, base, open) => {
      app.on(['GET', 'POST'], '*', async (context, next) => {
        const found = findAction(context.req.path);
        if (found === undefined) return next();
        return context.req.method === 'POST' ? take(context, found, base) : show(context, found, base, open);
      });
    },
  };
};
