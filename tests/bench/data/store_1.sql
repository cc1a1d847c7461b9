BEGIN TRANSACTION;
CREATE TABLE jobs (
    id INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,
    kind TEXT NOT NULL CHECK (kind IN ('score', 'import', 'evaluate')),
    status TEXT NOT NULL CHECK (status IN ('OK', 'ERROR', 'TIMEOUT', 'OOM', 'SKIPPED')),
    run_id INTEGER NOT NULL REFERENCES runs (id),
    series_hash TEXT NOT NULL REFERENCES series (hash),
    label TEXT NOT NULL,
    identity TEXT NOT NULL,
    seed INTEGER,
    scores_hash TEXT REFERENCES scores (hash),
    measures TEXT,
    spec TEXT NOT NULL,
    fit_seconds REAL,
    score_seconds REAL,
    seconds REAL,
    peak_bytes INTEGER,
    cold INTEGER NOT NULL,
    worker TEXT,
    finished TEXT NOT NULL,
    buffer INTEGER,
    buffer_reason TEXT,
    message TEXT,
    traceback TEXT,
    command TEXT
);
INSERT INTO "jobs" VALUES(1,'90352341376253f90de40ed66370e940','score','OK',1,'25ca7a98ac10171f037740cd6da5a49c9e6c04281a131a68333415ea63f2c187','Values','values(impute=None, seed=0) vuskit 0.1.0',0,'a47ff9cfeffc199f8dcdf64013cf973ee5bda8bc5cfa7d773d0a6da6721f0f3d',NULL,'{"detector":{"folder":"PLACE","label":"Values","name":"values","params":"{}"},"seed":0,"series":{"anomalous_points":180,"dataset":"synthetic","hash":"25ca7a98ac10171f037740cd6da5a49c9e6c04281a131a68333415ea63f2c187","n_anomalies":2,"n_channels":1,"n_points":800,"name":"ecg-native-medium-2x90-seed1","source":{"synthetic":{"family":"ecg","n":800,"n_anomalies":2,"seed":1}}}}',1.16199953481554985046e-06,1.02542002423433586955e-04,6.50288999895565211772e-03,48558080,1,'host:2','2026-11-16T02:17:21.913+00:00',NULL,NULL,NULL,NULL,NULL);
INSERT INTO "jobs" VALUES(2,'3c879a5d268dc22d5b8d4c6d546fd14e','evaluate','OK',1,'25ca7a98ac10171f037740cd6da5a49c9e6c04281a131a68333415ea63f2c187','Values','buffer=20, thresholds=all, definition=journal',NULL,'a47ff9cfeffc199f8dcdf64013cf973ee5bda8bc5cfa7d773d0a6da6721f0f3d','["auc_pr @ vuskit 0.1.0", "misses @ sha256:f058c6d9d308f5db"]','{"evaluation":{"buffer":20,"buffer_fallback":null,"definition":"journal","side":"both","step":1,"threshold":"sigma","thresholds":null},"label":"Values","measures":[{"name":"auc_pr","options":"{}"},{"name":"misses","options":"{}"}],"scores_hash":"a47ff9cfeffc199f8dcdf64013cf973ee5bda8bc5cfa7d773d0a6da6721f0f3d","series":{"anomalous_points":180,"dataset":"synthetic","hash":"25ca7a98ac10171f037740cd6da5a49c9e6c04281a131a68333415ea63f2c187","n_anomalies":2,"n_channels":1,"n_points":800,"name":"ecg-native-medium-2x90-seed1","source":{"synthetic":{"family":"ecg","n":800,"n_anomalies":2,"seed":1}}}}',NULL,NULL,0.00872476699805702,50360320,0,'host:2','2026-11-16T02:17:21.925+00:00',20,'number: given',NULL,NULL,NULL);
INSERT INTO "jobs" VALUES(3,'dceed2a966c567b33d58ede06f8d3cce','score','OK',1,'25ca7a98ac10171f037740cd6da5a49c9e6c04281a131a68333415ea63f2c187','Values','values(impute=None, seed=1) vuskit 0.1.0',1,'a47ff9cfeffc199f8dcdf64013cf973ee5bda8bc5cfa7d773d0a6da6721f0f3d',NULL,'{"detector":{"folder":"PLACE","label":"Values","name":"values","params":"{}"},"seed":1,"series":{"anomalous_points":180,"dataset":"synthetic","hash":"25ca7a98ac10171f037740cd6da5a49c9e6c04281a131a68333415ea63f2c187","n_anomalies":2,"n_channels":1,"n_points":800,"name":"ecg-native-medium-2x90-seed1","source":{"synthetic":{"family":"ecg","n":800,"n_anomalies":2,"seed":1}}}}',9.92000423138961195945e-07,6.77099997119512408971e-05,1.52336000610375776886e-04,50360320,0,'host:2','2026-11-16T02:17:21.927+00:00',NULL,NULL,NULL,NULL,NULL);
INSERT INTO "jobs" VALUES(4,'5a76e7d0253aac53fa4c347e0ca1aa53','score','OK',1,'25ca7a98ac10171f037740cd6da5a49c9e6c04281a131a68333415ea63f2c187','Random','random(impute=None, seed=0) vuskit 0.1.0',0,'8ab65b59de6374c5002e1f8066be78d5d552ee5f37c175f05642e55094aff80c',NULL,'{"detector":{"folder":"PLACE","label":"Random","name":"random","params":"{}"},"seed":0,"series":{"anomalous_points":180,"dataset":"synthetic","hash":"25ca7a98ac10171f037740cd6da5a49c9e6c04281a131a68333415ea63f2c187","n_anomalies":2,"n_channels":1,"n_points":800,"name":"ecg-native-medium-2x90-seed1","source":{"synthetic":{"family":"ecg","n":800,"n_anomalies":2,"seed":1}}}}',6.20999344391748309135e-07,1.29983000078937038779e-04,2.01558999833650887012e-04,50360320,1,'host:2','2026-11-16T02:17:21.930+00:00',NULL,NULL,NULL,NULL,NULL);
INSERT INTO "jobs" VALUES(5,'e4e23cb6023c88af7df7be7abdcff9f2','evaluate','OK',1,'25ca7a98ac10171f037740cd6da5a49c9e6c04281a131a68333415ea63f2c187','Random','buffer=20, thresholds=all, definition=journal',NULL,'8ab65b59de6374c5002e1f8066be78d5d552ee5f37c175f05642e55094aff80c','["auc_pr @ vuskit 0.1.0", "misses @ sha256:f058c6d9d308f5db"]','{"evaluation":{"buffer":20,"buffer_fallback":null,"definition":"journal","side":"both","step":1,"threshold":"sigma","thresholds":null},"label":"Random","measures":[{"name":"auc_pr","options":"{}"},{"name":"misses","options":"{}"}],"scores_hash":"8ab65b59de6374c5002e1f8066be78d5d552ee5f37c175f05642e55094aff80c","series":{"anomalous_points":180,"dataset":"synthetic","hash":"25ca7a98ac10171f037740cd6da5a49c9e6c04281a131a68333415ea63f2c187","n_anomalies":2,"n_channels":1,"n_points":800,"name":"ecg-native-medium-2x90-seed1","source":{"synthetic":{"family":"ecg","n":800,"n_anomalies":2,"seed":1}}}}',NULL,NULL,8.61068001540843397378e-04,50364416,0,'host:2','2026-11-16T02:17:21.951+00:00',20,'number: given',NULL,NULL,NULL);
INSERT INTO "jobs" VALUES(6,'cd18fa2463e7c879809b2b0b7d2bd047','score','OK',1,'25ca7a98ac10171f037740cd6da5a49c9e6c04281a131a68333415ea63f2c187','Random','random(impute=None, seed=1) vuskit 0.1.0',1,'db97237407f0bc70d3f9bdf0fe4475d1d9c5d55d3f6b11af12a12446d7f9e957',NULL,'{"detector":{"folder":"PLACE","label":"Random","name":"random","params":"{}"},"seed":1,"series":{"anomalous_points":180,"dataset":"synthetic","hash":"25ca7a98ac10171f037740cd6da5a49c9e6c04281a131a68333415ea63f2c187","n_anomalies":2,"n_channels":1,"n_points":800,"name":"ecg-native-medium-2x90-seed1","source":{"synthetic":{"family":"ecg","n":800,"n_anomalies":2,"seed":1}}}}',9.81999619398266e-07,1.32877001306042075157e-04,2.14618998143123462796e-04,50364416,0,'host:2','2026-11-16T02:17:21.961+00:00',NULL,NULL,NULL,NULL,NULL);
INSERT INTO "jobs" VALUES(7,'f9502b1c184f84ec09250abe9f9ed0b3','evaluate','OK',1,'25ca7a98ac10171f037740cd6da5a49c9e6c04281a131a68333415ea63f2c187','Random','buffer=20, thresholds=all, definition=journal',NULL,'db97237407f0bc70d3f9bdf0fe4475d1d9c5d55d3f6b11af12a12446d7f9e957','["auc_pr @ vuskit 0.1.0", "misses @ sha256:f058c6d9d308f5db"]','{"evaluation":{"buffer":20,"buffer_fallback":null,"definition":"journal","side":"both","step":1,"threshold":"sigma","thresholds":null},"label":"Random","measures":[{"name":"auc_pr","options":"{}"},{"name":"misses","options":"{}"}],"scores_hash":"db97237407f0bc70d3f9bdf0fe4475d1d9c5d55d3f6b11af12a12446d7f9e957","series":{"anomalous_points":180,"dataset":"synthetic","hash":"25ca7a98ac10171f037740cd6da5a49c9e6c04281a131a68333415ea63f2c187","n_anomalies":2,"n_channels":1,"n_points":800,"name":"ecg-native-medium-2x90-seed1","source":{"synthetic":{"family":"ecg","n":800,"n_anomalies":2,"seed":1}}}}',NULL,NULL,8.16181000118376687169e-04,50368512,0,'host:2','2026-11-16T02:17:21.964+00:00',20,'number: given',NULL,NULL,NULL);
INSERT INTO "jobs" VALUES(8,'ba0f998f43b0d4d8868bd6e908735286','score','OK',1,'2de5c42bbaa36efa8d353334082a9fe10a7f6115ca22ec19f473f0538c4d5d0f','Values','values(impute=None, seed=0) vuskit 0.1.0',0,'75c0e0a6fdda68ce0640f201b3111d3cdd834995a81f6d1786cb62825c073513',NULL,'{"detector":{"folder":"PLACE","label":"Values","name":"values","params":"{}"},"seed":0,"series":{"anomalous_points":180,"dataset":"synthetic","hash":"2de5c42bbaa36efa8d353334082a9fe10a7f6115ca22ec19f473f0538c4d5d0f","n_anomalies":2,"n_channels":1,"n_points":800,"name":"ecg-native-medium-2x90-seed2","source":{"synthetic":{"family":"ecg","n":800,"n_anomalies":2,"seed":2}}}}',7.40998075343668460845e-07,4.82410032418556511402e-05,9.0174800061504356563e-04,50372608,0,'host:2','2026-11-16T02:17:21.973+00:00',NULL,NULL,NULL,NULL,NULL);
INSERT INTO "jobs" VALUES(9,'bfc8383718204c9667a4459c4bc096e2','evaluate','OK',1,'2de5c42bbaa36efa8d353334082a9fe10a7f6115ca22ec19f473f0538c4d5d0f','Values','buffer=20, thresholds=all, definition=journal',NULL,'75c0e0a6fdda68ce0640f201b3111d3cdd834995a81f6d1786cb62825c073513','["auc_pr @ vuskit 0.1.0", "misses @ sha256:f058c6d9d308f5db"]','{"evaluation":{"buffer":20,"buffer_fallback":null,"definition":"journal","side":"both","step":1,"threshold":"sigma","thresholds":null},"label":"Values","measures":[{"name":"auc_pr","options":"{}"},{"name":"misses","options":"{}"}],"scores_hash":"75c0e0a6fdda68ce0640f201b3111d3cdd834995a81f6d1786cb62825c073513","series":{"anomalous_points":180,"dataset":"synthetic","hash":"2de5c42bbaa36efa8d353334082a9fe10a7f6115ca22ec19f473f0538c4d5d0f","n_anomalies":2,"n_channels":1,"n_points":800,"name":"ecg-native-medium-2x90-seed2","source":{"synthetic":{"family":"ecg","n":800,"n_anomalies":2,"seed":2}}}}',NULL,NULL,9.78933003352722153067e-04,50372608,0,'host:2','2026-11-16T02:17:21.976+00:00',20,'number: given',NULL,NULL,NULL);
INSERT INTO "jobs" VALUES(10,'46ba67b2a265844c24687367a05459bb','score','OK',1,'2de5c42bbaa36efa8d353334082a9fe10a7f6115ca22ec19f473f0538c4d5d0f','Values','values(impute=None, seed=1) vuskit 0.1.0',1,'75c0e0a6fdda68ce0640f201b3111d3cdd834995a81f6d1786cb62825c073513',NULL,'{"detector":{"folder":"PLACE","label":"Values","name":"values","params":"{}"},"seed":1,"series":{"anomalous_points":180,"dataset":"synthetic","hash":"2de5c42bbaa36efa8d353334082a9fe10a7f6115ca22ec19f473f0538c4d5d0f","n_anomalies":2,"n_channels":1,"n_points":800,"name":"ecg-native-medium-2x90-seed2","source":{"synthetic":{"family":"ecg","n":800,"n_anomalies":2,"seed":2}}}}',8.41002474771812558174e-07,6.5566997363930568099e-05,1.31124998006271198391e-04,50372608,0,'host:2','2026-11-16T02:17:21.977+00:00',NULL,NULL,NULL,NULL,NULL);
INSERT INTO "jobs" VALUES(11,'93b60ce6588b63feff5d60e93eb3ed7d','score','OK',1,'2de5c42bbaa36efa8d353334082a9fe10a7f6115ca22ec19f473f0538c4d5d0f','Random','random(impute=None, seed=0) vuskit 0.1.0',0,'8ab65b59de6374c5002e1f8066be78d5d552ee5f37c175f05642e55094aff80c',NULL,'{"detector":{"folder":"PLACE","label":"Random","name":"random","params":"{}"},"seed":0,"series":{"anomalous_points":180,"dataset":"synthetic","hash":"2de5c42bbaa36efa8d353334082a9fe10a7f6115ca22ec19f473f0538c4d5d0f","n_anomalies":2,"n_channels":1,"n_points":800,"name":"ecg-native-medium-2x90-seed2","source":{"synthetic":{"family":"ecg","n":800,"n_anomalies":2,"seed":2}}}}',1.20200274977833032608e-06,1.55360994540387764573e-04,2.0841899822698906064e-04,50372608,0,'host:2','2026-11-16T02:17:21.978+00:00',NULL,NULL,NULL,NULL,NULL);
INSERT INTO "jobs" VALUES(12,'bffe79e8f5493f6707d78813d40c8bb7','evaluate','OK',1,'2de5c42bbaa36efa8d353334082a9fe10a7f6115ca22ec19f473f0538c4d5d0f','Random','buffer=20, thresholds=all, definition=journal',NULL,'8ab65b59de6374c5002e1f8066be78d5d552ee5f37c175f05642e55094aff80c','["auc_pr @ vuskit 0.1.0", "misses @ sha256:f058c6d9d308f5db"]','{"evaluation":{"buffer":20,"buffer_fallback":null,"definition":"journal","side":"both","step":1,"threshold":"sigma","thresholds":null},"label":"Random","measures":[{"name":"auc_pr","options":"{}"},{"name":"misses","options":"{}"}],"scores_hash":"8ab65b59de6374c5002e1f8066be78d5d552ee5f37c175f05642e55094aff80c","series":{"anomalous_points":180,"dataset":"synthetic","hash":"2de5c42bbaa36efa8d353334082a9fe10a7f6115ca22ec19f473f0538c4d5d0f","n_anomalies":2,"n_channels":1,"n_points":800,"name":"ecg-native-medium-2x90-seed2","source":{"synthetic":{"family":"ecg","n":800,"n_anomalies":2,"seed":2}}}}',NULL,NULL,5.83336001000134274363e-04,50376704,0,'host:2','2026-11-16T02:17:21.979+00:00',20,'number: given',NULL,NULL,NULL);
INSERT INTO "jobs" VALUES(13,'c3c90d088c65b3e8123a0c53e8c8033a','score','OK',1,'2de5c42bbaa36efa8d353334082a9fe10a7f6115ca22ec19f473f0538c4d5d0f','Random','random(impute=None, seed=1) vuskit 0.1.0',1,'db97237407f0bc70d3f9bdf0fe4475d1d9c5d55d3f6b11af12a12446d7f9e957',NULL,'{"detector":{"folder":"PLACE","label":"Random","name":"random","params":"{}"},"seed":1,"series":{"anomalous_points":180,"dataset":"synthetic","hash":"2de5c42bbaa36efa8d353334082a9fe10a7f6115ca22ec19f473f0538c4d5d0f","n_anomalies":2,"n_channels":1,"n_points":800,"name":"ecg-native-medium-2x90-seed2","source":{"synthetic":{"family":"ecg","n":800,"n_anomalies":2,"seed":2}}}}',6.50998117635026574134e-07,9.25080021261237561702e-05,1.47378003021003678441e-04,50376704,0,'host:2','2026-11-16T02:17:21.980+00:00',NULL,NULL,NULL,NULL,NULL);
INSERT INTO "jobs" VALUES(14,'0f029911b63fe5f4b4e1cebf30e8a0a8','evaluate','OK',1,'2de5c42bbaa36efa8d353334082a9fe10a7f6115ca22ec19f473f0538c4d5d0f','Random','buffer=20, thresholds=all, definition=journal',NULL,'db97237407f0bc70d3f9bdf0fe4475d1d9c5d55d3f6b11af12a12446d7f9e957','["auc_pr @ vuskit 0.1.0", "misses @ sha256:f058c6d9d308f5db"]','{"evaluation":{"buffer":20,"buffer_fallback":null,"definition":"journal","side":"both","step":1,"threshold":"sigma","thresholds":null},"label":"Random","measures":[{"name":"auc_pr","options":"{}"},{"name":"misses","options":"{}"}],"scores_hash":"db97237407f0bc70d3f9bdf0fe4475d1d9c5d55d3f6b11af12a12446d7f9e957","series":{"anomalous_points":180,"dataset":"synthetic","hash":"2de5c42bbaa36efa8d353334082a9fe10a7f6115ca22ec19f473f0538c4d5d0f","n_anomalies":2,"n_channels":1,"n_points":800,"name":"ecg-native-medium-2x90-seed2","source":{"synthetic":{"family":"ecg","n":800,"n_anomalies":2,"seed":2}}}}',NULL,NULL,5.09866000356851145625e-04,50376704,0,'host:2','2026-11-16T02:17:21.981+00:00',20,'number: given',NULL,NULL,NULL);
CREATE TABLE measures (
    id INTEGER PRIMARY KEY,
    identity TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL
);
INSERT INTO "measures" VALUES(1,'auc_pr @ vuskit 0.1.0','auc_pr');
INSERT INTO "measures" VALUES(2,'misses @ sha256:f058c6d9d308f5db','misses');
CREATE TABLE runs (
    id INTEGER PRIMARY KEY,
    started TEXT NOT NULL,
    finished TEXT,
    state TEXT NOT NULL CHECK (state IN ('running', 'finished', 'interrupted', 'failed')),
    host TEXT NOT NULL,
    pid INTEGER NOT NULL,
    vuskit TEXT NOT NULL,
    environment TEXT NOT NULL,
    executor TEXT NOT NULL,
    plan TEXT NOT NULL,
    base TEXT NOT NULL,
    imports TEXT NOT NULL,
    wanted TEXT NOT NULL,
    notes TEXT NOT NULL,
    progress TEXT NOT NULL
);
INSERT INTO "runs" VALUES(1,'2026-11-16T02:17:21.376+00:00','2026-11-16T02:17:22.032+00:00','finished','host',1,'0.1.0','{"python": "3.11.7", "numpy": "2.4.6", "scipy": "1.17.1", "scikit-learn": "1.9.1", "numba": "0.68.1", "stumpy": "1.14.1", "torch": "2.13.0+cpu"}','local, 1 at a time','imports = ["my_measures"]
seeds = [0, 1]
[[series]]
family = "ecg"
n = 800
n_anomalies = 2
seed = [1, 2]
[[detectors]]
name = "values"
[[detectors]]
name = "random"
[[evaluate]]
measures = ["auc_pr", "misses"]
buffer = 20
[executor]
workers = 1
','PLACE','["my_measures"]','[["buffer=20, thresholds=all, definition=journal", "auc_pr"], ["buffer=20, thresholds=all, definition=journal", "misses"]]','[]','{"total": 14, "done": 14, "failed": 0, "per_minute": 1414.714683210438, "seconds_left": 0.0, "running": []}');
CREATE TABLE scores (
    hash TEXT PRIMARY KEY,
    n_points INTEGER NOT NULL
) WITHOUT ROWID;
INSERT INTO "scores" VALUES('75c0e0a6fdda68ce0640f201b3111d3cdd834995a81f6d1786cb62825c073513',800);
INSERT INTO "scores" VALUES('8ab65b59de6374c5002e1f8066be78d5d552ee5f37c175f05642e55094aff80c',800);
INSERT INTO "scores" VALUES('a47ff9cfeffc199f8dcdf64013cf973ee5bda8bc5cfa7d773d0a6da6721f0f3d',800);
INSERT INTO "scores" VALUES('db97237407f0bc70d3f9bdf0fe4475d1d9c5d55d3f6b11af12a12446d7f9e957',800);
CREATE TABLE series (
    hash TEXT PRIMARY KEY,
    dataset TEXT NOT NULL,
    name TEXT NOT NULL,
    n_points INTEGER NOT NULL,
    n_channels INTEGER NOT NULL,
    n_anomalies INTEGER NOT NULL,
    anomalous_points INTEGER NOT NULL
) WITHOUT ROWID;
INSERT INTO "series" VALUES('25ca7a98ac10171f037740cd6da5a49c9e6c04281a131a68333415ea63f2c187','synthetic','ecg-native-medium-2x90-seed1',800,1,2,180);
INSERT INTO "series" VALUES('2de5c42bbaa36efa8d353334082a9fe10a7f6115ca22ec19f473f0538c4d5d0f','synthetic','ecg-native-medium-2x90-seed2',800,1,2,180);
CREATE TABLE sources (
    spec TEXT PRIMARY KEY,
    stamp TEXT NOT NULL,
    dataset TEXT NOT NULL,
    name TEXT NOT NULL,
    series_hash TEXT NOT NULL REFERENCES series (hash)
) WITHOUT ROWID;
INSERT INTO "sources" VALUES('{"synthetic":{"family":"ecg","n":800,"n_anomalies":2,"seed":1}}','vuskit 0.1.0','synthetic','ecg-native-medium-2x90-seed1','25ca7a98ac10171f037740cd6da5a49c9e6c04281a131a68333415ea63f2c187');
INSERT INTO "sources" VALUES('{"synthetic":{"family":"ecg","n":800,"n_anomalies":2,"seed":2}}','vuskit 0.1.0','synthetic','ecg-native-medium-2x90-seed2','2de5c42bbaa36efa8d353334082a9fe10a7f6115ca22ec19f473f0538c4d5d0f');
CREATE TABLE "values" (
    job_id INTEGER NOT NULL REFERENCES jobs (id) ON DELETE CASCADE,
    measure_id INTEGER NOT NULL REFERENCES measures (id),
    value REAL NOT NULL CHECK (typeof(value) = 'real'),
    PRIMARY KEY (job_id, measure_id)
) WITHOUT ROWID;
INSERT INTO "values" VALUES(2,1,2.65018404407362961894e-01);
INSERT INTO "values" VALUES(2,2,8.05555555555555580227e-01);
INSERT INTO "values" VALUES(5,1,2.36799807739650064464e-01);
INSERT INTO "values" VALUES(5,2,0.75);
INSERT INTO "values" VALUES(7,1,2.31755471533759055402e-01);
INSERT INTO "values" VALUES(7,2,8.11111111111111116045e-01);
INSERT INTO "values" VALUES(9,1,2.50847552684908214892e-01);
INSERT INTO "values" VALUES(9,2,8.3333333333333337034e-01);
INSERT INTO "values" VALUES(12,1,2.22434338443489865166e-01);
INSERT INTO "values" VALUES(12,2,7.8888888888888886175e-01);
INSERT INTO "values" VALUES(14,1,2.30423461016634689713e-01);
INSERT INTO "values" VALUES(14,2,0.8);
CREATE INDEX jobs_by_state ON jobs (run_id, kind, status);
CREATE INDEX jobs_by_scores ON jobs (scores_hash, series_hash, kind);
COMMIT;
PRAGMA user_version = 1;
