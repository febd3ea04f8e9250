import pg from 'pg';

/** A connection that is refused if its PostgreSQL is a standby. */
export class PrimaryClient extends pg.Client {
  #isStandby = false;

  constructor(config?: string | pg.ClientConfig) {
    super(config);
    // Reported by PostgreSQL 14 and newer while they accept the connection, so it takes no statement. PgBouncer does not report it,
    // and has a query of its own for it (deploy/pgbouncer.ini).
    this.connection.on('parameterStatus', ({ parameterName, parameterValue }: Status) => {
      if (parameterName === 'in_hot_standby') this.#isStandby = parameterValue === 'on';
    });
  }

  /**
   * A standby can be behind its primary. During a failover, a load balancer may choose the new primary before it has applied
   * all changes, and a read would miss some of them.
   */
  refuseStandby(): void {
    if (this.#isStandby) throw new Error('The PostgreSQL is a standby');
  }
}

type Status = { readonly parameterName: string; readonly parameterValue: string };
