BEGIN TRANSACTION;
CREATE TABLE job_measures (
    job_id INTEGER NOT NULL REFERENCES jobs (id) ON DELETE CASCADE,
    measure_id INTEGER NOT NULL REFERENCES measures (id),
    PRIMARY KEY (job_id, measure_id)
) WITHOUT ROWID;
INSERT INTO "job_measures" VALUES(2,1);
INSERT INTO "job_measures" VALUES(2,2);
INSERT INTO "job_measures" VALUES(2,3);
INSERT INTO "job_measures" VALUES(4,1);
INSERT INTO "job_measures" VALUES(4,2);
INSERT INTO "job_measures" VALUES(4,3);
INSERT INTO "job_measures" VALUES(6,1);
INSERT INTO "job_measures" VALUES(6,2);
INSERT INTO "job_measures" VALUES(6,3);
INSERT INTO "job_measures" VALUES(9,1);
INSERT INTO "job_measures" VALUES(9,2);
INSERT INTO "job_measures" VALUES(9,3);
INSERT INTO "job_measures" VALUES(11,1);
INSERT INTO "job_measures" VALUES(11,2);
INSERT INTO "job_measures" VALUES(11,3);
INSERT INTO "job_measures" VALUES(13,1);
INSERT INTO "job_measures" VALUES(13,2);
INSERT INTO "job_measures" VALUES(13,3);
INSERT INTO "job_measures" VALUES(16,1);
INSERT INTO "job_measures" VALUES(16,2);
INSERT INTO "job_measures" VALUES(16,3);
INSERT INTO "job_measures" VALUES(18,1);
INSERT INTO "job_measures" VALUES(18,2);
INSERT INTO "job_measures" VALUES(18,3);
INSERT INTO "job_measures" VALUES(19,4);
INSERT INTO "job_measures" VALUES(20,4);
INSERT INTO "job_measures" VALUES(21,4);
INSERT INTO "job_measures" VALUES(22,4);
INSERT INTO "job_measures" VALUES(23,4);
INSERT INTO "job_measures" VALUES(24,4);
INSERT INTO "job_measures" VALUES(25,4);
INSERT INTO "job_measures" VALUES(26,4);
CREATE TABLE jobs (
    id INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,
    kind TEXT NOT NULL CHECK (kind IN ('score', 'import', 'evaluate')),
    status TEXT NOT NULL
        CHECK (status IN ('OK', 'ERROR', 'TIMEOUT', 'OOM', 'KILLED', 'SKIPPED')),
    run_id INTEGER NOT NULL REFERENCES runs (id),
    series_hash TEXT NOT NULL REFERENCES series (hash),
    settings TEXT NOT NULL,
    code TEXT NOT NULL,
    scores_hash TEXT REFERENCES scores (hash),
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
    warm_up_seconds REAL,
    checksum TEXT
);
INSERT INTO "jobs" VALUES(1,'5be86846ce62d9de32b76233a5ea5319','score','OK',2,'e8b330ba24bdab6cf02c9dbc182f684bd7732076fd37fe6810d78e06c74c720b','values(impute=None, seed=0)','vuskit 0.1.0','38424016a9e506b439ef1527e25ef7e089f043f21963932a81996c6db611a083','{"detector":{"folder":"PLACE","name":"values","params":"{}"},"seed":null}',1.70299995261302683502e-06,1.14553000003070337697e-04,1.80872589999125921167e-02,49201152,0,'host:1','2026-11-16T14:27:06.331+00:00',NULL,NULL,NULL,NULL,1.18793400019967521075e-03,NULL);
INSERT INTO "jobs" VALUES(2,'38967434e566cac882cea957a5eae074','evaluate','OK',2,'e8b330ba24bdab6cf02c9dbc182f684bd7732076fd37fe6810d78e06c74c720b','buffer=20, thresholds=all, definition=journal','','38424016a9e506b439ef1527e25ef7e089f043f21963932a81996c6db611a083','{"measures":[{"name":"auc_pr","options":"{}"},{"name":"misses","options":"{}"},{"name":"f_score","options":"{\"beta\":2}"}],"settings":{"buffer":20,"buffer_fallback":null,"definition":"journal","side":"both","step":1,"threshold":"sigma","thresholds":null}}',NULL,NULL,2.95361600001342594623e-03,50905088,0,'host:1','2026-11-16T14:27:06.363+00:00',20,'number: given',NULL,NULL,2.15045479999389499425e-02,NULL);
INSERT INTO "jobs" VALUES(3,'767d5c8baad83cd68219e7a1d971b475','score','OK',2,'e8b330ba24bdab6cf02c9dbc182f684bd7732076fd37fe6810d78e06c74c720b','random(impute=None, seed=0)','vuskit 0.1.0','a51deccfa4e38ad4a7d33a3501eb637218c2015c71a443b0c39e03c4d46170eb','{"detector":{"folder":"PLACE","name":"random","params":"{}"},"seed":0}',2.06400000024586915969e-06,1.97668000055273296311e-04,3.28542000033849035389e-04,50905088,0,'host:1','2026-11-16T14:27:06.369+00:00',NULL,NULL,NULL,NULL,4.518619998634676449e-04,NULL);
INSERT INTO "jobs" VALUES(4,'3eb6e86e04120852b44a2e0427ef90c9','evaluate','OK',2,'e8b330ba24bdab6cf02c9dbc182f684bd7732076fd37fe6810d78e06c74c720b','buffer=20, thresholds=all, definition=journal','','a51deccfa4e38ad4a7d33a3501eb637218c2015c71a443b0c39e03c4d46170eb','{"measures":[{"name":"auc_pr","options":"{}"},{"name":"misses","options":"{}"},{"name":"f_score","options":"{\"beta\":2}"}],"settings":{"buffer":20,"buffer_fallback":null,"definition":"journal","side":"both","step":1,"threshold":"sigma","thresholds":null}}',NULL,NULL,2.78881899998850713018e-03,50909184,0,'host:1','2026-11-16T14:27:06.379+00:00',20,'number: given',NULL,NULL,NULL,NULL);
INSERT INTO "jobs" VALUES(5,'1541998102f4b34552944b52ee586262','score','OK',2,'e8b330ba24bdab6cf02c9dbc182f684bd7732076fd37fe6810d78e06c74c720b','random(impute=None, seed=1)','vuskit 0.1.0','5ed52b0a30fcdb090e5d5ffd8e58af50cf8fa2fa50e8c76ccc510bdae013229a','{"detector":{"folder":"PLACE","name":"random","params":"{}"},"seed":1}',2.13399994208884891122e-06,2.36601000096925417892e-04,5.16071999982159468345e-04,50909184,0,'host:1','2026-11-16T14:27:06.384+00:00',NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "jobs" VALUES(6,'27f2d55edb4629f63ceb8849d129a1be','evaluate','OK',2,'e8b330ba24bdab6cf02c9dbc182f684bd7732076fd37fe6810d78e06c74c720b','buffer=20, thresholds=all, definition=journal','','5ed52b0a30fcdb090e5d5ffd8e58af50cf8fa2fa50e8c76ccc510bdae013229a','{"measures":[{"name":"auc_pr","options":"{}"},{"name":"misses","options":"{}"},{"name":"f_score","options":"{\"beta\":2}"}],"settings":{"buffer":20,"buffer_fallback":null,"definition":"journal","side":"both","step":1,"threshold":"sigma","thresholds":null}}',NULL,NULL,2.98361299996940942946e-03,50909184,0,'host:1','2026-11-16T14:27:06.391+00:00',20,'number: given',NULL,NULL,NULL,NULL);
INSERT INTO "jobs" VALUES(7,'2a8c0b97b626c2d6a4100cfa79e56eb7','score','ERROR',2,'e8b330ba24bdab6cf02c9dbc182f684bd7732076fd37fe6810d78e06c74c720b','my_detectors:fails {} seed=0','sha256:a8a0db61086a791e',NULL,'{"detector":{"folder":"PLACE","name":"my_detectors:fails","params":"{}"},"seed":null}',NULL,NULL,1.5396700000565033406e-03,50962432,0,'host:1','2026-11-16T14:27:06.399+00:00',NULL,NULL,'RuntimeError: this detector fails','Traceback (most recent call last):',0.000766349000059563,NULL);
INSERT INTO "jobs" VALUES(8,'6fd019cc3e8259e450b38a51ec048eaa','score','OK',2,'947f6d7234652f36496d14505d4942523ba556a60996efc7ed35dbab6f17d161','values(impute=None, seed=0)','vuskit 0.1.0','0721c33078143c1fdd4ff39581385078d2131915d6f4ad006fe59f2a96f2b0d7','{"detector":{"folder":"PLACE","name":"values","params":"{}"},"seed":null}',1.28200008475687354803e-06,8.50889998673665104433e-05,1.64584799995282082818e-03,50974720,0,'host:1','2026-11-16T14:27:06.405+00:00',NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "jobs" VALUES(9,'8272dc8e295ebbc96f215c3de96eb709','evaluate','OK',2,'947f6d7234652f36496d14505d4942523ba556a60996efc7ed35dbab6f17d161','buffer=20, thresholds=all, definition=journal','','0721c33078143c1fdd4ff39581385078d2131915d6f4ad006fe59f2a96f2b0d7','{"measures":[{"name":"auc_pr","options":"{}"},{"name":"misses","options":"{}"},{"name":"f_score","options":"{\"beta\":2}"}],"settings":{"buffer":20,"buffer_fallback":null,"definition":"journal","side":"both","step":1,"threshold":"sigma","thresholds":null}}',NULL,NULL,2.52512700012630375567e-03,50982912,0,'host:1','2026-11-16T14:27:06.411+00:00',20,'number: given',NULL,NULL,NULL,NULL);
INSERT INTO "jobs" VALUES(10,'eeef89266f4fdd7ca5c7ff94de907de8','score','OK',2,'947f6d7234652f36496d14505d4942523ba556a60996efc7ed35dbab6f17d161','random(impute=None, seed=0)','vuskit 0.1.0','a51deccfa4e38ad4a7d33a3501eb637218c2015c71a443b0c39e03c4d46170eb','{"detector":{"folder":"PLACE","name":"random","params":"{}"},"seed":0}',2.45499995799036696553e-06,2.61377000015272642485e-04,4.03731999995216028764e-04,50982912,0,'host:1','2026-11-16T14:27:06.414+00:00',NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "jobs" VALUES(11,'1a8b34b24697cd9966aade9eebf71760','evaluate','OK',2,'947f6d7234652f36496d14505d4942523ba556a60996efc7ed35dbab6f17d161','buffer=20, thresholds=all, definition=journal','','a51deccfa4e38ad4a7d33a3501eb637218c2015c71a443b0c39e03c4d46170eb','{"measures":[{"name":"auc_pr","options":"{}"},{"name":"misses","options":"{}"},{"name":"f_score","options":"{\"beta\":2}"}],"settings":{"buffer":20,"buffer_fallback":null,"definition":"journal","side":"both","step":1,"threshold":"sigma","thresholds":null}}',NULL,NULL,2.71410000004834728315e-03,50982912,0,'host:1','2026-11-16T14:27:06.420+00:00',20,'number: given',NULL,NULL,NULL,NULL);
INSERT INTO "jobs" VALUES(12,'85e8511ee9a05b33ceb5309d14f772a3','score','OK',2,'947f6d7234652f36496d14505d4942523ba556a60996efc7ed35dbab6f17d161','random(impute=None, seed=1)','vuskit 0.1.0','5ed52b0a30fcdb090e5d5ffd8e58af50cf8fa2fa50e8c76ccc510bdae013229a','{"detector":{"folder":"PLACE","name":"random","params":"{}"},"seed":1}',2.62499997916165739297e-06,2.23666000010780408047e-04,3.55561999867859412916e-04,50982912,0,'host:1','2026-11-16T14:27:06.422+00:00',NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "jobs" VALUES(13,'35ef575cc1aa6cf8689aa0a0c3b9aa1d','evaluate','OK',2,'947f6d7234652f36496d14505d4942523ba556a60996efc7ed35dbab6f17d161','buffer=20, thresholds=all, definition=journal','','5ed52b0a30fcdb090e5d5ffd8e58af50cf8fa2fa50e8c76ccc510bdae013229a','{"measures":[{"name":"auc_pr","options":"{}"},{"name":"misses","options":"{}"},{"name":"f_score","options":"{\"beta\":2}"}],"settings":{"buffer":20,"buffer_fallback":null,"definition":"journal","side":"both","step":1,"threshold":"sigma","thresholds":null}}',NULL,NULL,2.52101999990372860338e-03,50982912,0,'host:1','2026-11-16T14:27:06.428+00:00',20,'number: given',NULL,NULL,NULL,NULL);
INSERT INTO "jobs" VALUES(14,'319bfb1a65814416cf84b2f29f7786e3','score','ERROR',2,'947f6d7234652f36496d14505d4942523ba556a60996efc7ed35dbab6f17d161','my_detectors:fails {} seed=0','sha256:a8a0db61086a791e',NULL,'{"detector":{"folder":"PLACE","name":"my_detectors:fails","params":"{}"},"seed":null}',NULL,NULL,1.07728800003314972855e-03,50987008,0,'host:1','2026-11-16T14:27:06.431+00:00',NULL,NULL,'RuntimeError: this detector fails','Traceback (most recent call last):',NULL,NULL);
INSERT INTO "jobs" VALUES(15,'ce7cfe0e3cc585cbbe97092bf924a3be','import','OK',2,'0ec41fc54430524c80ec13c640c230a65a5e1d9d0cd712706af81f97e6137ce7','sha256:3a57632aea5002b4 column=LOF','','837d42ec8c1c3f3a6c17eb1a102d324c8232900fa6a2f8aa0ee197cae8fa1738','{"column":"LOF","digest":"3a57632aea5002b4f8ee0245a90d01f22a4eb52111f5ce5fa6931552b35f55fe","path":"PLACE/external/plant.csv"}',NULL,NULL,3.21094065999886879581e-01,128897024,0,'host:1','2026-11-16T14:27:06.758+00:00',NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "jobs" VALUES(16,'d93bbe01db8efeb42b7b5fd14418c7a6','evaluate','OK',2,'0ec41fc54430524c80ec13c640c230a65a5e1d9d0cd712706af81f97e6137ce7','buffer=20, thresholds=all, definition=journal','','837d42ec8c1c3f3a6c17eb1a102d324c8232900fa6a2f8aa0ee197cae8fa1738','{"measures":[{"name":"auc_pr","options":"{}"},{"name":"misses","options":"{}"},{"name":"f_score","options":"{\"beta\":2}"}],"settings":{"buffer":20,"buffer_fallback":null,"definition":"journal","side":"both","step":1,"threshold":"sigma","thresholds":null}}',NULL,NULL,2.30456700001013814471e-03,128905216,0,'host:1','2026-11-16T14:27:06.763+00:00',20,'number: given',NULL,NULL,NULL,NULL);
INSERT INTO "jobs" VALUES(17,'151686b761190dd3c0371f2d019d32c3','import','OK',2,'0ec41fc54430524c80ec13c640c230a65a5e1d9d0cd712706af81f97e6137ce7','sha256:3a57632aea5002b4 column=Twice','','e642fa0e370dec73dfe535b8fd91ae36abcf80ae99737542027852867a8113bc','{"column":"Twice","digest":"3a57632aea5002b4f8ee0245a90d01f22a4eb52111f5ce5fa6931552b35f55fe","path":"PLACE/external/plant.csv"}',NULL,NULL,2.22635000000082072801e-04,128905216,0,'host:1','2026-11-16T14:27:06.770+00:00',NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "jobs" VALUES(18,'1dc41e51ea902a1c4041819b0fe02ab1','evaluate','OK',2,'0ec41fc54430524c80ec13c640c230a65a5e1d9d0cd712706af81f97e6137ce7','buffer=20, thresholds=all, definition=journal','','e642fa0e370dec73dfe535b8fd91ae36abcf80ae99737542027852867a8113bc','{"measures":[{"name":"auc_pr","options":"{}"},{"name":"misses","options":"{}"},{"name":"f_score","options":"{\"beta\":2}"}],"settings":{"buffer":20,"buffer_fallback":null,"definition":"journal","side":"both","step":1,"threshold":"sigma","thresholds":null}}',NULL,NULL,2.81737199998133291956e-03,128913408,0,'host:1','2026-11-16T14:27:06.778+00:00',20,'number: given',NULL,NULL,NULL,NULL);
INSERT INTO "jobs" VALUES(19,'20e58d007a5e285220cca2b197fba2b0','evaluate','ERROR',2,'e8b330ba24bdab6cf02c9dbc182f684bd7732076fd37fe6810d78e06c74c720b','buffer=20, thresholds=all, definition=journal','','38424016a9e506b439ef1527e25ef7e089f043f21963932a81996c6db611a083','{"measures":[{"name":"fails","options":"{}"}],"settings":{"buffer":20,"buffer_fallback":null,"definition":"journal","side":"both","step":1,"threshold":"sigma","thresholds":null}}',NULL,NULL,1.572331099987422931e-02,50614272,0,'host:1','2026-11-16T14:27:08.406+00:00',NULL,NULL,'MeasureError: measure ''fails'' failed: ValueError: this measure fails','Traceback (most recent call last):',1.95640609999827574938e-02,NULL);
INSERT INTO "jobs" VALUES(20,'ed89d3b70686bfd4a45b30e5942eb377','evaluate','ERROR',2,'e8b330ba24bdab6cf02c9dbc182f684bd7732076fd37fe6810d78e06c74c720b','buffer=20, thresholds=all, definition=journal','','a51deccfa4e38ad4a7d33a3501eb637218c2015c71a443b0c39e03c4d46170eb','{"measures":[{"name":"fails","options":"{}"}],"settings":{"buffer":20,"buffer_fallback":null,"definition":"journal","side":"both","step":1,"threshold":"sigma","thresholds":null}}',NULL,NULL,2.08853300000555464066e-03,50683904,0,'host:1','2026-11-16T14:27:08.414+00:00',NULL,NULL,'MeasureError: measure ''fails'' failed: ValueError: this measure fails','Traceback (most recent call last):',NULL,NULL);
INSERT INTO "jobs" VALUES(21,'a8d3639bb8b9a79d8941bf36b9b24066','evaluate','ERROR',2,'e8b330ba24bdab6cf02c9dbc182f684bd7732076fd37fe6810d78e06c74c720b','buffer=20, thresholds=all, definition=journal','','5ed52b0a30fcdb090e5d5ffd8e58af50cf8fa2fa50e8c76ccc510bdae013229a','{"measures":[{"name":"fails","options":"{}"}],"settings":{"buffer":20,"buffer_fallback":null,"definition":"journal","side":"both","step":1,"threshold":"sigma","thresholds":null}}',NULL,NULL,1.98116400019898719619e-03,50688000,0,'host:1','2026-11-16T14:27:08.419+00:00',NULL,NULL,'MeasureError: measure ''fails'' failed: ValueError: this measure fails','Traceback (most recent call last):',NULL,NULL);
INSERT INTO "jobs" VALUES(22,'6fac9d77e808e1f6151302b921185192','evaluate','ERROR',2,'947f6d7234652f36496d14505d4942523ba556a60996efc7ed35dbab6f17d161','buffer=20, thresholds=all, definition=journal','','0721c33078143c1fdd4ff39581385078d2131915d6f4ad006fe59f2a96f2b0d7','{"measures":[{"name":"fails","options":"{}"}],"settings":{"buffer":20,"buffer_fallback":null,"definition":"journal","side":"both","step":1,"threshold":"sigma","thresholds":null}}',NULL,NULL,3.1625860001440742053e-03,50708480,0,'host:1','2026-11-16T14:27:08.425+00:00',NULL,NULL,'MeasureError: measure ''fails'' failed: ValueError: this measure fails','Traceback (most recent call last):',NULL,NULL);
INSERT INTO "jobs" VALUES(23,'a2e3f8cb2bc6d469edd6abab5dbc2ac5','evaluate','ERROR',2,'947f6d7234652f36496d14505d4942523ba556a60996efc7ed35dbab6f17d161','buffer=20, thresholds=all, definition=journal','','a51deccfa4e38ad4a7d33a3501eb637218c2015c71a443b0c39e03c4d46170eb','{"measures":[{"name":"fails","options":"{}"}],"settings":{"buffer":20,"buffer_fallback":null,"definition":"journal","side":"both","step":1,"threshold":"sigma","thresholds":null}}',NULL,NULL,1.88342100000227219425e-03,50712576,0,'host:1','2026-11-16T14:27:08.430+00:00',NULL,NULL,'MeasureError: measure ''fails'' failed: ValueError: this measure fails','Traceback (most recent call last):',NULL,NULL);
INSERT INTO "jobs" VALUES(24,'ed8945a32ccc0b3a55748b3c3b4689a7','evaluate','ERROR',2,'947f6d7234652f36496d14505d4942523ba556a60996efc7ed35dbab6f17d161','buffer=20, thresholds=all, definition=journal','','5ed52b0a30fcdb090e5d5ffd8e58af50cf8fa2fa50e8c76ccc510bdae013229a','{"measures":[{"name":"fails","options":"{}"}],"settings":{"buffer":20,"buffer_fallback":null,"definition":"journal","side":"both","step":1,"threshold":"sigma","thresholds":null}}',NULL,NULL,1.66342099987559777218e-03,50720768,0,'host:1','2026-11-16T14:27:08.435+00:00',NULL,NULL,'MeasureError: measure ''fails'' failed: ValueError: this measure fails','Traceback (most recent call last):',NULL,NULL);
INSERT INTO "jobs" VALUES(25,'b2aaff023367f637cd23d279ecc31ed2','evaluate','ERROR',2,'0ec41fc54430524c80ec13c640c230a65a5e1d9d0cd712706af81f97e6137ce7','buffer=20, thresholds=all, definition=journal','','837d42ec8c1c3f3a6c17eb1a102d324c8232900fa6a2f8aa0ee197cae8fa1738','{"measures":[{"name":"fails","options":"{}"}],"settings":{"buffer":20,"buffer_fallback":null,"definition":"journal","side":"both","step":1,"threshold":"sigma","thresholds":null}}',NULL,NULL,3.29286922000164850032e-01,126689280,0,'host:1','2026-11-16T14:27:08.767+00:00',NULL,NULL,'MeasureError: measure ''fails'' failed: ValueError: this measure fails','Traceback (most recent call last):',NULL,NULL);
INSERT INTO "jobs" VALUES(26,'e13507ee4c0fa1c9ceda8fa515daf628','evaluate','ERROR',2,'0ec41fc54430524c80ec13c640c230a65a5e1d9d0cd712706af81f97e6137ce7','buffer=20, thresholds=all, definition=journal','','e642fa0e370dec73dfe535b8fd91ae36abcf80ae99737542027852867a8113bc','{"measures":[{"name":"fails","options":"{}"}],"settings":{"buffer":20,"buffer_fallback":null,"definition":"journal","side":"both","step":1,"threshold":"sigma","thresholds":null}}',NULL,NULL,1.48856500004512781742e-03,126697472,0,'host:1','2026-11-16T14:27:08.772+00:00',NULL,NULL,'MeasureError: measure ''fails'' failed: ValueError: this measure fails','Traceback (most recent call last):',NULL,NULL);
CREATE TABLE measures (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    version TEXT NOT NULL,
    title TEXT,
    family TEXT,
    lowest REAL,
    highest REAL,
    higher_is_better INTEGER,
    reference TEXT,
    UNIQUE (name, version)
);
INSERT INTO "measures" VALUES(1,'auc_pr','vuskit 0.1.0','AUC-PR','auc',0.0,1.0,1,'doi:10.1145/1143844.1143874');
INSERT INTO "measures" VALUES(2,'misses','sha256:e51f71f29a5286b5','Misses','own',0.0,1.0,0,'');
INSERT INTO "measures" VALUES(3,'f_score(beta=2)','vuskit 0.1.0','F(beta=2)','threshold',0.0,1.0,1,'doi:10.1016/j.patrec.2005.10.010');
INSERT INTO "measures" VALUES(4,'fails','sha256:e51f71f29a5286b5','fails','custom',0.0,1.0,1,'');
CREATE TABLE planned_scores (
    key TEXT NOT NULL,
    detector TEXT NOT NULL,
    seed INTEGER,
    series_hash TEXT NOT NULL REFERENCES series (hash),
    PRIMARY KEY (key, detector)
) WITHOUT ROWID;
INSERT INTO "planned_scores" VALUES('151686b761190dd3c0371f2d019d32c3','Twice',NULL,'0ec41fc54430524c80ec13c640c230a65a5e1d9d0cd712706af81f97e6137ce7');
INSERT INTO "planned_scores" VALUES('1541998102f4b34552944b52ee586262','Old name',1,'e8b330ba24bdab6cf02c9dbc182f684bd7732076fd37fe6810d78e06c74c720b');
INSERT INTO "planned_scores" VALUES('2a8c0b97b626c2d6a4100cfa79e56eb7','my_detectors:fails',NULL,'e8b330ba24bdab6cf02c9dbc182f684bd7732076fd37fe6810d78e06c74c720b');
INSERT INTO "planned_scores" VALUES('319bfb1a65814416cf84b2f29f7786e3','my_detectors:fails',NULL,'947f6d7234652f36496d14505d4942523ba556a60996efc7ed35dbab6f17d161');
INSERT INTO "planned_scores" VALUES('5be86846ce62d9de32b76233a5ea5319','Values',NULL,'e8b330ba24bdab6cf02c9dbc182f684bd7732076fd37fe6810d78e06c74c720b');
INSERT INTO "planned_scores" VALUES('6fd019cc3e8259e450b38a51ec048eaa','Values',NULL,'947f6d7234652f36496d14505d4942523ba556a60996efc7ed35dbab6f17d161');
INSERT INTO "planned_scores" VALUES('767d5c8baad83cd68219e7a1d971b475','Old name',0,'e8b330ba24bdab6cf02c9dbc182f684bd7732076fd37fe6810d78e06c74c720b');
INSERT INTO "planned_scores" VALUES('85e8511ee9a05b33ceb5309d14f772a3','Old name',1,'947f6d7234652f36496d14505d4942523ba556a60996efc7ed35dbab6f17d161');
INSERT INTO "planned_scores" VALUES('ce7cfe0e3cc585cbbe97092bf924a3be','LOF',NULL,'0ec41fc54430524c80ec13c640c230a65a5e1d9d0cd712706af81f97e6137ce7');
INSERT INTO "planned_scores" VALUES('eeef89266f4fdd7ca5c7ff94de907de8','Old name',0,'947f6d7234652f36496d14505d4942523ba556a60996efc7ed35dbab6f17d161');
CREATE TABLE planned_series (
    hash TEXT PRIMARY KEY REFERENCES series (hash),
    dataset TEXT NOT NULL,
    name TEXT NOT NULL,
    source TEXT NOT NULL
) WITHOUT ROWID;
INSERT INTO "planned_series" VALUES('0ec41fc54430524c80ec13c640c230a65a5e1d9d0cd712706af81f97e6137ce7','external','plant','{"file":"PLACE/external/plant.csv","format":"scores","options":{}}');
INSERT INTO "planned_series" VALUES('947f6d7234652f36496d14505d4942523ba556a60996efc7ed35dbab6f17d161','synthetic','ecg-native-medium-1x90-seed2','{"synthetic":{"family":"ecg","n":400,"n_anomalies":1,"seed":2}}');
INSERT INTO "planned_series" VALUES('e8b330ba24bdab6cf02c9dbc182f684bd7732076fd37fe6810d78e06c74c720b','synthetic','ecg-native-medium-1x90-seed1','{"synthetic":{"family":"ecg","n":400,"n_anomalies":1,"seed":1}}');
CREATE TABLE planned_values (
    settings TEXT NOT NULL,
    measure_id INTEGER NOT NULL REFERENCES measures (id),
    place INTEGER NOT NULL,
    PRIMARY KEY (settings, measure_id)
) WITHOUT ROWID;
INSERT INTO "planned_values" VALUES('buffer=20, thresholds=all, definition=journal',1,0);
INSERT INTO "planned_values" VALUES('buffer=20, thresholds=all, definition=journal',2,1);
INSERT INTO "planned_values" VALUES('buffer=20, thresholds=all, definition=journal',3,3);
INSERT INTO "planned_values" VALUES('buffer=20, thresholds=all, definition=journal',4,2);
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
    notes TEXT NOT NULL,
    progress TEXT NOT NULL
);
INSERT INTO "runs" VALUES(1,'2026-11-16T14:27:05.539+00:00','2026-11-16T14:27:06.796+00:00','finished','host',1,'0.1.0','{"python": "3.11.7", "numpy": "2.4.6", "scipy": "1.17.1", "scikit-learn": "1.9.1", "numba": "0.68.1", "stumpy": "1.14.1", "torch": "2.13.0+cpu"}','local, 1 at a time','imports = ["my_measures"]
seeds = [0, 1]
[[series]]
family = "ecg"
n = 400
n_anomalies = 1
seed = [1, 2]
[[detectors]]
name = "values"
[[detectors]]
name = "random"
label = "Old name"
[[detectors]]
name = "my_detectors:fails"
[[scores]]
folder = "external"
[[evaluate]]
measures = ["auc_pr", "misses", {name = "f_score", beta = 2}]
buffer = 20
[executor]
workers = 1
','PLACE','["my_measures"]','[]','{"total": 18, "done": 18, "failed": 2, "per_minute": 883.9027476573252, "seconds_left": 0.0, "running": []}');
INSERT INTO "runs" VALUES(2,'2026-11-16T14:27:07.870+00:00','2026-11-16T14:27:08.815+00:00','finished','host',1,'0.1.0','{"python": "3.11.7", "numpy": "2.4.6", "scipy": "1.17.1", "scikit-learn": "1.9.1", "numba": "0.68.1", "stumpy": "1.14.1", "torch": "2.13.0+cpu"}','local, 1 at a time','imports = ["my_measures"]
seeds = [0, 1]
[[series]]
family = "ecg"
n = 400
n_anomalies = 1
seed = [1, 2]
[[detectors]]
name = "values"
[[detectors]]
name = "random"
label = "Chance"
[[detectors]]
name = "my_detectors:fails"
[[scores]]
folder = "external"
[[evaluate]]
measures = ["auc_pr", "misses", "fails", {name = "f_score", beta = 2}]
buffer = 20
[executor]
workers = 1
','PLACE','["my_measures"]','[]','{"total": 26, "done": 26, "failed": 8, "per_minute": 538.9337816924498, "seconds_left": 0.0, "running": []}');
CREATE TABLE scores (
    hash TEXT PRIMARY KEY,
    n_points INTEGER NOT NULL
) WITHOUT ROWID;
INSERT INTO "scores" VALUES('0721c33078143c1fdd4ff39581385078d2131915d6f4ad006fe59f2a96f2b0d7',400);
INSERT INTO "scores" VALUES('38424016a9e506b439ef1527e25ef7e089f043f21963932a81996c6db611a083',400);
INSERT INTO "scores" VALUES('5ed52b0a30fcdb090e5d5ffd8e58af50cf8fa2fa50e8c76ccc510bdae013229a',400);
INSERT INTO "scores" VALUES('837d42ec8c1c3f3a6c17eb1a102d324c8232900fa6a2f8aa0ee197cae8fa1738',60);
INSERT INTO "scores" VALUES('a51deccfa4e38ad4a7d33a3501eb637218c2015c71a443b0c39e03c4d46170eb',400);
INSERT INTO "scores" VALUES('e642fa0e370dec73dfe535b8fd91ae36abcf80ae99737542027852867a8113bc',60);
CREATE TABLE series (
    hash TEXT PRIMARY KEY,
    n_points INTEGER NOT NULL,
    n_channels INTEGER NOT NULL,
    n_anomalies INTEGER NOT NULL,
    anomalous_points INTEGER NOT NULL,
    n_missing INTEGER
) WITHOUT ROWID;
INSERT INTO "series" VALUES('0ec41fc54430524c80ec13c640c230a65a5e1d9d0cd712706af81f97e6137ce7',60,1,1,6,0);
INSERT INTO "series" VALUES('947f6d7234652f36496d14505d4942523ba556a60996efc7ed35dbab6f17d161',400,1,1,90,0);
INSERT INTO "series" VALUES('e8b330ba24bdab6cf02c9dbc182f684bd7732076fd37fe6810d78e06c74c720b',400,1,1,90,0);
CREATE TABLE sources (
    spec TEXT PRIMARY KEY,
    stamp TEXT NOT NULL,
    dataset TEXT NOT NULL,
    name TEXT NOT NULL,
    series_hash TEXT NOT NULL REFERENCES series (hash),
    left_out TEXT,
    files TEXT
) WITHOUT ROWID;
INSERT INTO "sources" VALUES('{"file":"PLACE/external/plant.csv","format":"scores","options":{}}','508 1794839223728631777','external','plant','0ec41fc54430524c80ec13c640c230a65a5e1d9d0cd712706af81f97e6137ce7','[]',NULL);
INSERT INTO "sources" VALUES('{"synthetic":{"family":"ecg","n":400,"n_anomalies":1,"seed":1}}','vuskit 0.1.0','synthetic','ecg-native-medium-1x90-seed1','e8b330ba24bdab6cf02c9dbc182f684bd7732076fd37fe6810d78e06c74c720b','[]',NULL);
INSERT INTO "sources" VALUES('{"synthetic":{"family":"ecg","n":400,"n_anomalies":1,"seed":2}}','vuskit 0.1.0','synthetic','ecg-native-medium-1x90-seed2','947f6d7234652f36496d14505d4942523ba556a60996efc7ed35dbab6f17d161','[]',NULL);
CREATE TABLE "values" (
    job_id INTEGER NOT NULL REFERENCES jobs (id) ON DELETE CASCADE,
    measure_id INTEGER NOT NULL REFERENCES measures (id),
    value REAL NOT NULL CHECK (typeof(value) = 'real'),
    PRIMARY KEY (job_id, measure_id)
) WITHOUT ROWID;
INSERT INTO "values" VALUES(2,1,3.0028613180118318704e-01);
INSERT INTO "values" VALUES(2,2,3.88888888888888895056e-01);
INSERT INTO "values" VALUES(2,3,0.0938337801608579);
INSERT INTO "values" VALUES(4,1,2.43966842920652099424e-01);
INSERT INTO "values" VALUES(4,2,5.22222222222222254295e-01);
INSERT INTO "values" VALUES(4,3,0.0);
INSERT INTO "values" VALUES(6,1,2.29898629667494303063e-01);
INSERT INTO "values" VALUES(6,2,0.5);
INSERT INTO "values" VALUES(6,3,0.0);
INSERT INTO "values" VALUES(9,1,3.03114075899690638138e-01);
INSERT INTO "values" VALUES(9,2,0.3);
INSERT INTO "values" VALUES(9,3,8.0645161290322564529e-02);
INSERT INTO "values" VALUES(11,1,0.255608680922517);
INSERT INTO "values" VALUES(11,2,0.5);
INSERT INTO "values" VALUES(11,3,0.0);
INSERT INTO "values" VALUES(13,1,2.39537677242542240696e-01);
INSERT INTO "values" VALUES(13,2,5.22222222222222254295e-01);
INSERT INTO "values" VALUES(13,3,0.0);
INSERT INTO "values" VALUES(16,1,1.24488304093567245245e-01);
INSERT INTO "values" VALUES(16,2,0.5);
INSERT INTO "values" VALUES(16,3,0.0);
INSERT INTO "values" VALUES(18,1,8.88888888888888922812e-02);
INSERT INTO "values" VALUES(18,2,0.5);
INSERT INTO "values" VALUES(18,3,0.0);
CREATE INDEX jobs_by_state ON jobs (run_id, kind, status);
CREATE INDEX jobs_by_scores ON jobs (scores_hash, series_hash, kind, run_id, status);
COMMIT;
PRAGMA user_version = 4;
