// Connections to one replica of a service. There is no bound on them: who sends has one, and a queue here would be unseen.
import type { IncomingHttpHeaders } from 'node:http';
import type { Socket } from 'node:net';
import type { Trunk } from '@almanac/service-kit/trunk';
import { askForTrunk } from '@almanac/service-kit/trunk-http';
import { type buildConnector, Pool } from 'undici';
import type { Exchange } from './exchange.ts';

/** Bodies up to this size go over strands; what is larger has a connection of its own, so that it is in nobody's way. */
const smallBytes = 65_536;
const pauseMs = 5_000; // before a trunk that wasn't given is asked for again

export class Connections {
  private readonly origin: string;
  private readonly connectMs: number;
  /** Used again and again. */
  private readonly kept: Pool;
  /** Each for one request: when one kept connection turned out to be dead, so may the others be. */
  private readonly fresh: Pool;
  /** Over the trunk: many small calls cost one write (docs/adr/0019-trunks.md). */
  private readonly strands: Pool;
  private trunk: Trunk | undefined;
  private isAsking = false;
  private askAt = 0;
  private isClosed = false;

  /** To the service at `origin`; none is made before it is needed. */
  constructor(origin: string, connectMs: number) {
    this.origin = origin;
    this.connectMs = connectMs;
    // Waiting for answers and bodies is bounded by stalls.ts, which knows what the call is.
    const options = { connectTimeout: connectMs, headersTimeout: 0, bodyTimeout: 0, allowH2: false };
    this.kept = new Pool(origin, options);
    this.fresh = new Pool(origin, { ...options, maxRequestsPerClient: 1 });
    this.strands = new Pool(origin, { ...options, connect: this.openStrand });
  }

  /** Those that a request goes over. */
  choose({ wasRetried, route, isUpload, req }: Exchange): Pool {
    if (wasRetried) return this.fresh;
    const isSmall = route && !isUpload && isSmallBody(req.headers);
    return isSmall && this.trunk?.isUsable ? this.strands : this.kept;
  }

  /** An answer offers trunks: from now on there is one, if the service means it. */
  offered(): void {
    if (this.trunk?.isUsable || this.isAsking || performance.now() < this.askAt) return;
    this.isAsking = true;
    void askForTrunk(this.origin, this.connectMs).then((trunk) => {
      this.isAsking = false;
      if (this.isClosed) trunk?.destroy();
      else if (trunk) this.trunk = trunk;
      else this.askAt = performance.now() + pauseMs;
    });
  }

  /** Ends them with the last of their answers. */
  async close(): Promise<void> {
    this.isClosed = true;
    await Promise.all([this.kept.close(), this.fresh.close(), this.strands.close()]);
    this.trunk?.end();
  }

  /** Ends them now. */
  async destroy(): Promise<void> {
    this.isClosed = true;
    await Promise.all([this.kept.destroy(), this.fresh.destroy(), this.strands.destroy()]);
    this.trunk?.destroy();
  }

  // Not before it returns: undici goes on with what waits only then.
  private readonly openStrand: buildConnector.connector = (_options, done) =>
    queueMicrotask(() => {
      const { trunk } = this;
      // undici knows sockets; a strand is all that it uses of one.
      if (trunk?.isUsable) done(null, trunk.open() as unknown as Socket);
      else done(Object.assign(new Error('The trunk was lost.'), { code: 'ECONNRESET' }), null);
    });
}

const isSmallBody = ({ 'transfer-encoding': chunked, 'content-length': length }: IncomingHttpHeaders) =>
  chunked === undefined && Number(length ?? 0) <= smallBytes;
